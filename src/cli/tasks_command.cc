#include "cli/tasks_command.h"

#include <iomanip>

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& tasks_spec() {
  static const CommandSpec spec{"tasks",
                                "--store URL [--assignee WHO] [--role ROLE]… [--instance ID] [--all] [--json]",
                                "List tasks, the most urgent first",
                                "",
                                {store_flag,
                                 {"--assignee", "WHO", "assigned to this person"},
                                 {"--role", "ROLE", "for this role (repeatable)"},
                                 {"--instance", "ID", "of this instance"},
                                 {"--all", "", "closed ones too"},
                                 json_flag},
                                {"cairn tasks --store sqlite:orders.db --role clerk"}};
  return spec;
}

int run_tasks(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(tasks_spec(), args, arguments, out, err)) return *over;
  TaskFilter filter;
  filter.assignee = arguments.value("--assignee").value_or("");
  filter.roles = arguments.values("--role");
  filter.closed = arguments.has("--all");
  if (const auto id = arguments.value("--instance")) filter.instance = InstanceId{*id};
  auto opened = StoreSession::open("tasks", arguments, StoreSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  const auto rows = session.store().list_tasks(filter, {1000, ""});
  if (!rows) return fail("tasks", rows.error(), err);
  if (arguments.has("--json")) {
    Json items = Json::array();
    for (const TaskRow& row : rows->items) items.push_back(server::document(row));
    out << write_json(Json::object({{"items", items}, {"next_cursor", rows->next_cursor}})) << "\n";
    return exit_done;
  }
  const Timestamp now = session.store().now();
  for (const TaskRow& row : rows->items) {
    out << row.id.value << "  " << std::left << std::setw(9) << to_string(row.status) << "  " << std::setw(5)
        << ago(row.created_at, now) << "  " << row.name << ": " << row.title;
    if (!row.assignee.empty()) out << "  → " << row.assignee;
    out << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
