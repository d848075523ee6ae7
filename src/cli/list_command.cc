#include "cli/commands.h"

#include "base/suggest.h"
#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/listing.h"
#include "cli/store_session.h"
#include "instance/snapshot.h"

namespace cairn::cli {

const CommandSpec& list_spec() {
  static const CommandSpec spec{
      "list",
      "[--status S] [--definition NAME] [--reference KEY] [--text TEXT] [--from TIME] [--to TIME] [--filter FILTER] "
      "[--limit N] [--json]",
      "List instances, newest first",
      "Without --limit it prints 50.",
      with_list_flags({{"--status", "S", "running, waiting, suspended, completed, failed or cancelled"},
                       {"--definition", "NAME", "of this definition"},
                       {"--reference", "KEY", "with this business reference"},
                       {"--text", "TEXT", "with this text in id, name or reference"},
                       {"--from", "TIME", "started at or after"},
                       {"--to", "TIME", "started before"},
                       {"--filter", "FILTER", "all conditions in one text: status:suspended definition:order …"}}),
      {"cairn list --server http://127.0.0.1:8400 --status suspended", "cairn list --store sqlite:orders.db"}};
  return spec;
}

int run_list(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(list_spec(), args, arguments, out, err)) return *over;
  if (!arguments.positional().empty()) return wrong_call("list", "takes flags only", err);
  if (const auto status = arguments.value("--status"); status && !status_from(*status))
    return wrong_call("list", "--status: '" + *status + "' is not a status", err);
  ApiRequest request{"GET", "/v1/instances"};
  for (const auto& [flag, parameter] :
       {std::pair{"--status", "status"}, std::pair{"--definition", "definition"}, std::pair{"--reference", "reference"},
        std::pair{"--text", "q"}, std::pair{"--from", "from"}, std::pair{"--to", "to"},
        std::pair{"--filter", "filter"}}) {
    if (const auto value = arguments.value(flag)) request.query.emplace_back(parameter, *value);
  }
  auto opened = ApiSession::open("list", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  Listing listing;
  listing.request = std::move(request);
  listing.most = 50;
  listing.columns = {"ID", "STATUS", "STARTED", "DEFINITION", "REFERENCE", "ERROR"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    return {cell(item, "id"),
            cell(item, "status"),
            age_cell(item, "started_at"),
            cell(item, "definition") + " " + cell(item, "version"),
            cell(item["reference"], "key"),
            cell(item["error"], "code")};
  };
  return print_listing(*std::get<0>(opened), listing, arguments, out, err);
}

}  // namespace cairn::cli
