#include "cli/task_command.h"

#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& task_spec() {
  static const CommandSpec spec{
      "task",
      "assign|release|reassign|complete|comment TASK --store URL …",
      "Assign, release, reassign, complete or comment on a task",
      "",
      {store_flag,
       {"--to", "WHO", "assign, reassign: to this person"},
       {"--as", "WHO", "who does it (default cli)"},
       {"--payload", "JSON|@FILE", "complete: the answer (default {})"},
       {"--text", "TEXT", "comment: what to say"},
       {"--key", "KEY", "complete: idempotency key"},
       json_flag},
      {"cairn task complete 0190… --payload '{\"ok\": true}' --as ann --store sqlite:orders.db"}};
  return spec;
}

int run_task(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(task_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 2) return wrong_call("task", "say what to do and with which task", err);
  const std::string& verb = arguments.positional()[0];
  const TaskId id{arguments.positional()[1]};
  Actor actor;
  actor.name = arguments.value("--as").value_or("cli");
  TaskChange change;
  change.task = id;
  change.assignee = arguments.value("--to").value_or("");
  change.comment = arguments.value("--text").value_or("");
  Json payload = Json::object();
  if (const auto given = arguments.value("--payload")) {
    auto json = read_json_argument(*given, in);
    if (!json) return fail("task", json.error(), err);
    payload = std::move(*json);
  }
  if (verb == "assign") {
    change.kind = TaskChange::Kind::assign;
  } else if (verb == "release") {
    change.kind = TaskChange::Kind::release;
  } else if (verb == "reassign") {
    change.kind = TaskChange::Kind::reassign;
  } else if (verb == "comment") {
    change.kind = TaskChange::Kind::comment;
    if (change.comment.empty()) return wrong_call("task", "comment needs --text", err);
  } else if (verb != "complete") {
    return wrong_call("task", "'" + verb + "' is none of assign, release, reassign, complete, comment", err);
  }
  if ((verb == "assign" || verb == "reassign") && change.assignee.empty())
    return wrong_call("task", verb + " needs --to", err);
  auto opened = StoreSession::open("task", arguments, StoreSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  if (verb == "complete") {
    const auto answer =
        session.coordinator().complete_task({id, payload, std::nullopt, arguments.value("--key").value_or(""), actor});
    if (!answer) return fail("task", answer.error(), err);
    session.coordinator().settle();
    if (arguments.has("--json")) {
      out << write_json(server::document(*answer)) << "\n";
    } else {
      out << answer->instance.value << " " << to_string(answer->status)
          << (answer->repeated ? " (completed before)" : "") << "\n";
    }
    return exit_done;
  }
  const auto row = session.coordinator().change_task(change, actor);
  if (!row) return fail("task", row.error(), err);
  if (arguments.has("--json")) {
    out << write_json(server::document(*row)) << "\n";
  } else {
    out << row->id.value << " " << to_string(row->status) << (row->assignee.empty() ? "" : " " + row->assignee) << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
