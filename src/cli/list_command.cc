#include "cli/list_command.h"

#include <charconv>
#include <iomanip>

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& list_spec() {
  static const CommandSpec spec{"list",
                                "--store URL [--status S] [--definition NAME] [--reference KEY] [--limit N] [--json]",
                                "List instances, newest first",
                                "",
                                {store_flag,
                                 {"--status", "S", "running, waiting, suspended, completed, failed or cancelled"},
                                 {"--definition", "NAME", "of this definition"},
                                 {"--reference", "KEY", "with this business reference"},
                                 {"--limit", "N", "at most so many (default 50)"},
                                 json_flag},
                                {"cairn list --store sqlite:orders.db --status suspended"}};
  return spec;
}

int run_list(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(list_spec(), args, arguments, out, err)) return *over;
  InstanceFilter filter;
  if (const auto status = arguments.value("--status")) {
    filter.status = status_from(*status);
    if (!filter.status) return wrong_call("list", "--status: '" + *status + "' is no status", err);
  }
  filter.definition = arguments.value("--definition").value_or("");
  filter.reference_key = arguments.value("--reference").value_or("");
  PageRequest page{50, ""};
  if (const auto limit = arguments.value("--limit")) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(limit->data(), limit->data() + limit->size(), value);
    if (error != std::errc() || end != limit->data() + limit->size() || value == 0 || value > 10'000) {
      return wrong_call("list", "--limit takes a number from 1 to 10000", err);
    }
    page.limit = value;
  }
  auto opened = StoreSession::open("list", arguments, StoreSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  const auto rows = session.store().list_instances(filter, page);
  if (!rows) return fail("list", rows.error(), err);
  if (arguments.has("--json")) {
    Json items = Json::array();
    for (const InstanceRow& row : rows->items) items.push_back(server::document(row));
    out << write_json(Json::object({{"items", items}, {"next_cursor", rows->next_cursor}})) << "\n";
    return exit_done;
  }
  const Timestamp now = session.store().now();
  for (const InstanceRow& row : rows->items) {
    out << row.id.value << "  " << std::left << std::setw(9) << to_string(row.status) << "  " << std::setw(5)
        << ago(row.started_at, now) << "  " << row.program.name << " " << row.program.version;
    if (row.reference.key.is_string()) out << "  " << row.reference.key.as_string();
    if (row.error) out << "  " << row.error->code;
    out << "\n";
  }
  if (!rows->next_cursor.empty()) err << "There are more: raise --limit or narrow the list.\n";
  return exit_done;
}

}  // namespace cairn::cli
