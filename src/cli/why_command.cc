#include "cli/why_command.h"

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

struct Reason {
  std::string text;
  std::string command;
};

std::string join(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

Reason explain(const Wait& wait, Store& store, const InstanceId& id, const std::string& flags) {
  const std::string since = " (since " + ago(wait.since, store.now()) + ")";
  switch (wait.kind) {
    case WaitKind::task: {
      const auto task = store.find_task({wait.target});
      std::string who = "anybody";
      if (task && *task && !(**task).roles.empty()) who = "somebody with the role " + join((**task).roles);
      if (task && *task && !(**task).assignee.empty()) who = (**task).assignee;
      return {"Step " + wait.step + " waits for " + who + " to complete the task " + wait.name + since,
              "cairn task complete " + wait.target + " --payload '{…}'" + flags};
    }
    case WaitKind::timer:
      return {"Step " + wait.step + " waits until " + (wait.until ? format_timestamp(*wait.until) : "later") + since,
              ""};
    case WaitKind::signal: {
      const std::string key = wait.key.is_string() ? " with the key " + std::string(wait.key.as_string()) : "";
      const std::string key_flag = wait.key.is_string() ? " --key '" + std::string(wait.key.as_string()) + "'" : "";
      return {"Step " + wait.step + " waits for the signal " + wait.name + key + since,
              "cairn signal " + id.value + " " + wait.name + key_flag + " --payload '{…}'" + flags};
    }
    case WaitKind::subworkflow:
      return {"Step " + wait.step + " waits for the subworkflow " + wait.name + since,
              "cairn why " + wait.target + flags};
    case WaitKind::run: {
      const auto run = store.find_run({wait.target});
      std::string how = "a worker for " + wait.name;
      if (run && *run && (**run).status == RunStatus::leased) how = "the worker " + (**run).leased_by;
      std::string last = run && *run && !(**run).last_error.empty() ? "; last error: " + (**run).last_error : "";
      return {"Step " + wait.step + " waits for " + how + since + last, ""};
    }
  }
  return {};
}

}  // namespace

const CommandSpec& why_spec() {
  static const CommandSpec spec{
      "why", "ID --store URL [--json]", "Say what an instance waits for, since when, and how to unblock it",
      "",    {store_flag, json_flag},   {"cairn why 0190… --store sqlite:orders.db"}};
  return spec;
}

int run_why(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(why_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("why", "name one instance", err);
  const InstanceId id{arguments.positional()[0]};
  auto opened = StoreSession::open("why", arguments, StoreSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  const auto row = session.store().find_instance(id);
  if (!row) return fail("why", row.error(), err);
  if (!*row) return fail("why", {ErrorCode::not_found, "no instance " + id.value}, err);
  const std::string store = " --store " + arguments.value("--store").value_or("URL");
  std::vector<Reason> reasons;
  if (is_final((*row)->status)) {
    reasons.push_back({std::string("It is ") + to_string((*row)->status) + " and waits for nothing.", ""});
  } else if ((*row)->status == Status::suspended) {
    const std::string what = (*row)->error ? (*row)->error->code + ": " + (*row)->error->message : "by an operator";
    reasons.push_back({"It is suspended: " + what, "cairn retry " + id.value + store});
  }
  const auto waits = session.store().list_waits(id);
  if (!waits) return fail("why", waits.error(), err);
  for (const Wait& wait : *waits) reasons.push_back(explain(wait, session.store(), id, store));
  if (arguments.has("--json")) {
    Json items = Json::array();
    for (const Reason& reason : reasons)
      items.push_back(Json::object({{"reason", reason.text}, {"command", reason.command}}));
    out << write_json(Json::object({{"id", id.value}, {"status", to_string((*row)->status)}, {"reasons", items}}))
        << "\n";
    return exit_done;
  }
  for (const Reason& reason : reasons) {
    out << reason.text << "\n";
    if (!reason.command.empty()) out << "  " << reason.command << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
