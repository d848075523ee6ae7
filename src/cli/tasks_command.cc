#include "cli/commands.h"

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/listing.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& tasks_spec() {
  static const CommandSpec spec{
      "tasks",
      "[--mine] [--assignee USER] [--role ROLE]… [--instance ID] [--overdue] [--text TEXT] [--filter FILTER] [--all] "
      "[--json]",
      "List tasks, the most urgent first",
      "",
      with_list_flags({{"--mine", "", "tasks that the caller may work on, by assignee and role"},
                       {"--assignee", "USER", "assigned to this person"},
                       {"--role", "ROLE", "for this role (repeatable)"},
                       {"--instance", "ID", "of this instance"},
                       {"--overdue", "", "past their due time or deadline"},
                       {"--text", "TEXT", "with this text in name, title or reference"},
                       {"--filter", "FILTER", "all conditions in one text: role:clerk name:Review due:2026-01-31 …"},
                       {"--all", "", "include closed tasks"}}),
      {"cairn tasks --server http://127.0.0.1:8400 --role clerk"}};
  return spec;
}

int run_tasks(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(tasks_spec(), args, arguments, out, err)) return *over;
  if (!arguments.positional().empty()) return wrong_call("tasks", "takes flags only", err);
  ApiRequest request{"GET", "/v1/tasks"};
  if (const auto who = arguments.value("--assignee")) request.query.emplace_back("assignee", *who);
  for (const std::string& role : arguments.values("--role")) request.query.emplace_back("role", role);
  if (const auto id = arguments.value("--instance")) request.query.emplace_back("instance", *id);
  if (const auto text = arguments.value("--text")) request.query.emplace_back("q", *text);
  if (const auto filter = arguments.value("--filter")) request.query.emplace_back("filter", *filter);
  if (arguments.has("--mine")) request.query.emplace_back("mine", "true");
  if (arguments.has("--overdue")) request.query.emplace_back("overdue", "true");
  if (arguments.has("--all")) request.query.emplace_back("closed", "true");
  auto opened = ApiSession::open("tasks", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  Listing listing;
  listing.request = std::move(request);
  listing.most = 1000;
  listing.columns = {"ID", "STATUS", "AGE", "NAME", "TITLE", "WHO", "DUE"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    std::string who = cell(item, "assignee");
    if (who.empty() && item["roles"].is_array()) {
      for (const Json& role : item["roles"].items()) who += (who.empty() ? "" : ",") + std::string(role.as_string());
    }
    const std::string due = cell(item, "due");
    return {cell(item, "id"),
            cell(item, "status"),
            age_cell(item, "created_at"),
            cell(item, "name"),
            cell(item, "title"),
            who,
            due.empty() ? cell(item, "deadline") : due};
  };
  return print_listing(*std::get<0>(opened), listing, arguments, out, err);
}

}  // namespace cairn::cli
