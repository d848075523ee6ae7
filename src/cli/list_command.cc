#include "cli/list_command.h"

#include <charconv>

#include "base/near.h"
#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/store_session.h"
#include "cli/table.h"
#include "instance/snapshot.h"

namespace cairn::cli {
namespace {

std::string text_of(const Json& value) { return value.is_string() ? std::string(value.as_string()) : ""; }

}  // namespace

const CommandSpec& list_spec() {
  static const CommandSpec spec{
      "list",
      "[--status S] [--definition NAME] [--reference KEY] [--text TEXT] [--from TIME] [--to TIME] [--filter FILTER] "
      "[--limit N] [--json]",
      "List instances, newest first",
      "",
      with_api_flags({{"--status", "S", "running, waiting, suspended, completed, failed or cancelled"},
                      {"--definition", "NAME", "of this definition"},
                      {"--reference", "KEY", "with this business reference"},
                      {"--text", "TEXT", "with this text in id, name or reference"},
                      {"--from", "TIME", "started at or after"},
                      {"--to", "TIME", "started before"},
                      {"--filter", "FILTER", "in one text: status:suspended definition:order …"},
                      {"--limit", "N", "at most so many (default 50)"},
                      as_json_flag}),
      {"cairn list --server http://127.0.0.1:8400 --status suspended", "cairn list --store sqlite:orders.db"}};
  return spec;
}

int run_list(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(list_spec(), args, arguments, out, err)) return *over;
  if (!arguments.positional().empty()) return wrong_call("list", "takes flags only", err);
  if (const auto status = arguments.value("--status"); status && !status_from(*status))
    return wrong_call("list", "--status: '" + *status + "' is no status", err);
  std::size_t limit = 50;
  if (const auto text = arguments.value("--limit")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
    if (error != std::errc() || end != text->data() + text->size() || limit == 0 || limit > 100'000)
      return wrong_call("list", "--limit takes a number from 1 to 100000", err);
  }
  ApiRequest request{"GET", "/v1/instances"};
  for (const auto& [flag, parameter] :
       {std::pair{"--status", "status"}, std::pair{"--definition", "definition"}, std::pair{"--reference", "reference"},
        std::pair{"--text", "q"}, std::pair{"--from", "from"}, std::pair{"--to", "to"},
        std::pair{"--filter", "filter"}}) {
    if (const auto value = arguments.value(flag)) request.query.emplace_back(parameter, *value);
  }
  auto opened = ApiSession::open("list", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  Json items = Json::array();
  Table table({"ID", "STATUS", "STARTED", "DEFINITION", "REFERENCE", "ERROR"});
  const auto take = [&](const Json& item) {
    items.push_back(item);
    const auto started = parse_timestamp(item.text_or("started_at", ""));
    table.add({text_of(item["id"]), text_of(item["status"]),
               started ? ago(*started, SystemClock().now()) : std::string(),
               text_of(item["definition"]) + " " + text_of(item["version"]), text_of(item["reference"]["key"]),
               text_of(item["error"]["code"])});
    return true;
  };
  if (const auto code = std::get<0>(opened)->each(request, limit, take, err)) return *code;
  if (arguments.has("--json")) {
    out << write_json(Json::object({{"items", items}})) << "\n";
    return exit_done;
  }
  table.print(out);
  if (items.size() == limit) err << "There may be more: raise --limit or narrow the list.\n";
  if (table.empty() && on_terminal(out)) err << "There is none.\n";
  return exit_done;
}

}  // namespace cairn::cli
