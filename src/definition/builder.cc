#include "cairn/definition.h"
#include "definition/definition.h"

namespace cairn::flow {

Schedule::Schedule(std::string_view key, const Part& value) : Part(Json::object()) { put(key, value); }

Schedule Schedule::cron(std::string_view text) { return Schedule("cron", Document(Json(text))); }

Schedule Schedule::every(const Length& between) { return Schedule("every", between); }

Schedule& Schedule::zone(std::string_view iana_name) {
  put("zone", Json(iana_name));
  return *this;
}

Schedule& Schedule::input(const Value& value) {
  put("input", value);
  return *this;
}

Schedule& Schedule::overlap_skip() {
  put("overlap", Json("skip"));
  return *this;
}

Schedule& Schedule::overlap_queue() {
  put("overlap", Json("queue"));
  return *this;
}

Schedule& Schedule::overlap_allow() {
  put("overlap", Json("allow"));
  return *this;
}

Schedule& Schedule::overlap_cancel_other() {
  put("overlap", Json("cancel_other"));
  return *this;
}

Schedule& Schedule::catch_up(const Length& back) {
  put("catch_up", back);
  return *this;
}

Schedule& Schedule::jitter(const Length& up_to) {
  put("jitter", up_to);
  return *this;
}

SignalRule& SignalRule::ttl(const Length& kept) {
  put("ttl", kept);
  return *this;
}

SignalRule& SignalRule::schema(const Document& json_schema) {
  put("schema", json_schema);
  return *this;
}

Workflow::Workflow(std::string_view name, std::string_view version)
    : Part(Json::object({{"cairn", 1}, {"name", name}, {"version", version}})) {}

Workflow& Workflow::title(std::string_view text) {
  put("title", Json(text));
  return *this;
}

Workflow& Workflow::state_schema(const Document& json_schema) {
  put("state_schema", json_schema);
  return *this;
}

Workflow& Workflow::signal(std::string_view name, const SignalRule& rule) {
  put_in("signals", name, rule);
  return *this;
}

Workflow& Workflow::input(const Document& json_schema) {
  put("input", json_schema);
  return *this;
}

Workflow& Workflow::reference(const Reference& reference) {
  put("reference", reference);
  return *this;
}

Workflow& Workflow::state(const Value& object) {
  put("state", object);
  return *this;
}

Workflow& Workflow::managers(const Value& roles) {
  put("managers", roles);
  return *this;
}

Workflow& Workflow::on_error_suspend() {
  put("on_error", Json("suspend"));
  return *this;
}

Workflow& Workflow::on_error_fail() {
  put("on_error", Json("fail"));
  return *this;
}

Workflow& Workflow::on_error_compensate() {
  put("on_error", Json("compensate"));
  return *this;
}

Workflow& Workflow::checkpoint_wait() {
  put("checkpoint", Json("wait"));
  return *this;
}

Workflow& Workflow::checkpoint_step() {
  put("checkpoint", Json("step"));
  return *this;
}

Workflow& Workflow::schedule(const Schedule& schedule) {
  add_in("schedules", "", schedule);
  return *this;
}

Workflow& Workflow::steps(const Steps& steps) {
  put("steps", steps);
  return *this;
}

Workflow& Workflow::output(const Value& value) {
  put("output", value);
  return *this;
}

Result<Definition> Workflow::build() const {
  if (!problem().empty()) return Error{ErrorCode::invalid, problem()};
  Definition definition = load_definition(write_json(source()), "");
  if (definition.valid()) return definition;
  std::string message;
  for (const Diagnostic& finding : definition.diagnostics) {
    if (finding.severity != Diagnostic::Severity::error) continue;
    message += (message.empty() ? "" : "\n") + finding.pointer + ": " + finding.message;
  }
  return Error{ErrorCode::invalid, std::move(message)};
}

Result<Json> Workflow::canonical() const {
  CAIRN_TRY(const Definition definition, build());
  return definition.canonical;
}

}  // namespace cairn::flow
