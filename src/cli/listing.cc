#include "cli/listing.h"

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

int print_listing(ApiSession& api, const Listing& listing, const Arguments& arguments, std::ostream& out,
                  std::ostream& err) {
  Json items = Json::array();
  Table table(listing.columns);
  const auto take = [&](const Json& item) {
    items.push_back(item);
    table.add(listing.row(item));
    return true;
  };
  if (const auto code = api.each(listing.request, listing.most, take, err)) return *code;
  if (arguments.has("--json")) {
    out << write_json(Json::object({{"items", items}})) << "\n";
    return exit_done;
  }
  table.print(out);
  if (items.size() == listing.most) err << "There may be more: narrow the list or raise --limit.\n";
  if (table.empty() && on_terminal(out)) err << "No entries.\n";
  return exit_done;
}

}  // namespace cairn::cli
