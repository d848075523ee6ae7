#include "cli/store_session.h"

#include <cstdlib>

#include "cli/exit_code.h"

namespace cairn::cli {

int fail(std::string_view command, const Error& error, std::ostream& err) {
  err << "cairn " << command << ": " << error.message << "\n";
  return exit_code_of(error.code);
}

int wrong_call(std::string_view command, const std::string& message, std::ostream& err) {
  err << "cairn " << command << ": " << message << "\nRun `cairn " << command << " --help` for how to call it.\n";
  return exit_usage;
}

std::variant<std::unique_ptr<StoreSession>, int> StoreSession::open(std::string_view command,
                                                                    const Arguments& arguments, Use use,
                                                                    std::ostream& err) {
  std::string url = arguments.value("--store").value_or("");
  if (url.empty()) {
    if (const char* given = std::getenv("CAIRN_STORE")) url = given;
  }
  if (url.empty()) return wrong_call(command, "which store? Give --store sqlite:PATH or set CAIRN_STORE", err);
  auto session = std::make_unique<StoreSession>();
  auto opened = open_store(url, session->clock_, use == Use::read ? StoreMode::read_only : StoreMode::own);
  if (!opened) return fail(command, opened.error(), err);
  session->store_ = std::move(*opened);
  if (use == Use::change) {
    CoordinatorOptions options;
    options.node = "cli";
    options.strict_definitions = false;
    auto coordinator = Coordinator::open(*session->store_, options);
    if (!coordinator) return fail(command, coordinator.error(), err);
    session->coordinator_ = std::move(*coordinator);
  }
  return session;
}

Json to_json(const InstanceRow& row) {
  Json json = Json::object({{"id", row.id.value},
                            {"definition", row.program.name},
                            {"version", row.program.version},
                            {"status", to_string(row.status)},
                            {"state_version", static_cast<std::int64_t>(row.version)},
                            {"reference", Json::object({{"key", row.reference.key}, {"parts", row.reference.parts}})},
                            {"started_at", format_timestamp(row.started_at)},
                            {"changed_at", format_timestamp(row.changed_at)}});
  if (row.ended_at) json.set("ended_at", format_timestamp(*row.ended_at));
  if (row.parent) json.set("parent", row.parent->value);
  if (row.error) json.set("error", cairn::to_json(*row.error));
  return json;
}

Json to_json(const TaskRow& row) {
  Json roles = Json::array();
  for (const std::string& role : row.roles) roles.push_back(role);
  Json json = Json::object({{"id", row.id.value},
                            {"instance", row.instance.value},
                            {"name", row.name},
                            {"title", row.title},
                            {"status", to_string(row.status)},
                            {"version", static_cast<std::int64_t>(row.version)},
                            {"roles", roles},
                            {"priority", row.priority},
                            {"payload", row.payload},
                            {"form", row.form},
                            {"reference", row.reference.key},
                            {"created_at", format_timestamp(row.created_at)}});
  if (!row.assignee.empty()) json.set("assignee", row.assignee);
  if (row.due) json.set("due", format_timestamp(*row.due));
  return json;
}

Json to_json(const Wait& wait) {
  Json json = Json::object({{"kind", to_string(wait.kind)},
                            {"step", wait.step},
                            {"token", wait.token.value},
                            {"since", format_timestamp(wait.since)}});
  if (wait.until) json.set("until", format_timestamp(*wait.until));
  if (!wait.name.empty()) json.set("name", wait.name);
  if (!wait.key.is_null()) json.set("key", wait.key);
  if (!wait.target.empty()) json.set("target", wait.target);
  return json;
}

Json to_json(const HistoryRow& row) {
  return Json::object({{"sequence", row.sequence},
                       {"version", static_cast<std::int64_t>(row.version)},
                       {"event", to_string(row.entry.kind)},
                       {"step", row.entry.step},
                       {"at", format_timestamp(row.entry.at)},
                       {"actor", row.entry.actor},
                       {"attempt", row.entry.attempt},
                       {"details", row.entry.details}});
}

Json to_json(const InstanceAnswer& answer) {
  Json json = Json::object({{"id", answer.instance.value},
                            {"status", to_string(answer.status)},
                            {"state_version", static_cast<std::int64_t>(answer.version)}});
  if (answer.status == Status::completed) json.set("output", answer.output);
  if (answer.repeated) json.set("repeated", true);
  return json;
}

std::string ago(Timestamp then, Timestamp now) {
  const std::int64_t seconds = std::max<std::int64_t>(0, between(then, now).seconds);
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return std::to_string(seconds / 60) + "m";
  if (seconds < 86'400) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86'400) + "d";
}

}  // namespace cairn::cli
