#include "cli/listing.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/ascii.h"
#include "base/clock.h"
#include "cli/exit_code.h"
#include "cli/store_session.h"
#include "cli/table.h"

namespace cairn::cli {

std::string cell(const Json& item, std::string_view member) {
  const Json& value = item[member];
  if (value.is_null()) return {};
  return value.is_string() ? std::string(value.as_string()) : write_json(value);
}

std::string age_cell(const Json& item, std::string_view member) {
  const auto at = parse_timestamp(item.text_or(member, ""));
  return at ? ago(*at, SystemClock().now()) : std::string();
}

std::vector<Flag> with_list_flags(std::vector<Flag> own) {
  own.insert(own.end(), {{"--limit", "N", "maximum number of entries"},
                         {"--cursor", "CURSOR", "continue a list: next_cursor of its --json"},
                         {"--columns", "NAMES", "only these columns, in this order: ID,STATUS"},
                         as_json_flag});
  return with_api_flags(std::move(own));
}

namespace {

constexpr std::size_t limit_max = 1'000'000;

// The positions of the columns that --columns names; all of them without it.
Result<std::vector<std::size_t>> chosen_columns(const std::vector<std::string>& columns, const Arguments& arguments) {
  std::vector<std::size_t> chosen;
  const auto given = arguments.value("--columns");
  if (!given) {
    for (std::size_t i = 0; i < columns.size(); ++i) chosen.push_back(i);
    return chosen;
  }
  if (given->empty()) return Error{ErrorCode::invalid, "--columns: name at least one column, such as " + columns[0]};
  std::istringstream names(*given);
  for (std::string name; std::getline(names, name, ',');) {
    const auto is = [&name](const std::string& column) { return ascii_lower(column) == ascii_lower(name); };
    const auto found = std::find_if(columns.begin(), columns.end(), is);
    if (found == columns.end() || name.empty()) {
      std::string known;
      for (const std::string& column : columns) {
        if (!column.empty()) known += (known.empty() ? "" : ", ") + column;
      }
      return Error{ErrorCode::invalid, "--columns: \"" + name + "\" is unknown; use " + known};
    }
    chosen.push_back(static_cast<std::size_t>(found - columns.begin()));
  }
  return chosen;
}

}  // namespace

int print_listing(ApiSession& api, const Listing& listing, const Arguments& arguments, std::ostream& out,
                  std::ostream& err) {
  const auto refuse = [&](const std::string& why) { return wrong_call(api.command(), why, err); };
  std::size_t most = listing.most;
  if (const auto text = arguments.value("--limit")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), most);
    if (error != std::errc() || end != text->data() + text->size() || most == 0 || most > limit_max)
      return refuse("--limit takes a number from 1 to 1000000");
  }
  const auto chosen = chosen_columns(listing.columns, arguments);
  if (!chosen) return refuse(chosen.error().message);
  std::vector<std::string> columns;
  for (const std::size_t place : *chosen) columns.push_back(listing.columns[place]);
  Json items = Json::array();
  Table table(std::move(columns));
  const auto take = [&](const Json& item) {
    if (items.size() == most) return false;
    items.push_back(item);
    const std::vector<std::string> row = listing.row(item);
    std::vector<std::string> cells;
    for (const std::size_t place : *chosen) cells.push_back(row[place]);
    table.add(std::move(cells));
    return true;
  };
  std::string cursor = arguments.value("--cursor").value_or("");
  bool cut = false;
  if (listing.paged) {
    if (const auto code = api.each(listing.request, most, take, err, &cursor)) return *code;
    cut = !cursor.empty();
  } else {
    // The route sends the whole list, so the cursor is a position in it.
    std::size_t at = 0;
    const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), at);
    if (!cursor.empty() && (error != std::errc() || end != cursor.data() + cursor.size()))
      return refuse("--cursor is next_cursor of an earlier page");
    const auto answer = api.ask(listing.request, err);
    if (const int* code = std::get_if<int>(&answer)) return *code;
    const Json& all = std::get<0>(answer).body["items"];
    const std::size_t size = all.is_array() ? all.size() : 0;
    while (at < size && take(all.items()[at])) ++at;
    cut = at < size;
    cursor = cut ? std::to_string(at) : "";
  }
  if (arguments.has("--json")) {
    out << write_json(Json::object({{"items", items}, {"next_cursor", cursor.empty() ? Json() : Json(cursor)}}))
        << "\n";
    return exit_done;
  }
  table.print(out);
  if (cut) err << "There are more: narrow the list or raise --limit.\n";
  if (table.empty() && on_terminal(out)) err << "No entries.\n";
  return exit_done;
}

}  // namespace cairn::cli
