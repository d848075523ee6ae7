#include "api/documents.h"
#include "engine/sender_scope.h"

namespace cairn::api {
namespace {

Json texts(const std::vector<std::string>& list) {
  Json items = Json::array();
  for (const std::string& text : list) items.push_back(text);
  return items;
}

Json reference_document(const Reference& reference) {
  return Json::object({{"key", reference.key}, {"parts", reference.parts}});
}

}  // namespace

Json document(const DefinitionRow& row) {
  Json json = Json::object({{"name", row.name},
                            {"version", row.version},
                            {"digest", row.digest},
                            {"title", row.canonical["title"]},
                            {"deployed_at", format_timestamp(row.deployed_at)}});
  if (row.retired_at) json.set("retired_at", format_timestamp(*row.retired_at));
  return json;
}

Json document(const InstanceRow& row) {
  Json json = Json::object({{"id", row.id.value},
                            {"definition", row.program.name},
                            {"version", row.program.version},
                            {"status", to_string(row.status)},
                            {"state_version", static_cast<std::int64_t>(row.state_version)},
                            {"reference", reference_document(row.reference)},
                            {"started_at", format_timestamp(row.started_at)},
                            {"changed_at", format_timestamp(row.changed_at)}});
  if (row.ended_at) json.set("ended_at", format_timestamp(*row.ended_at));
  if (row.parent) json.set("parent", row.parent->value);
  if (row.error) json.set("error", to_json(*row.error));
  return json;
}

Json document(const InstanceRow& row, const Snapshot& snapshot) {
  Json json = document(row);
  json.set("input", snapshot.input);
  json.set("state", snapshot.state);
  if (snapshot.status == Status::completed) json.set("output", snapshot.output);
  Json waits = Json::array();
  for (const Wait& wait : snapshot.waits) waits.push_back(document(wait));
  json.set("waits", waits);
  Json signals = Json::array();
  for (const BufferedSignal& signal : snapshot.signals) signals.push_back(document(signal));
  json.set("signals", signals);
  return json;
}

Json document(const Snapshot& snapshot) {
  Json strands = Json::array();
  for (const Strand& strand : snapshot.strands) {
    Json waits = Json::array();
    for (const WaitToken& token : strand.waits) waits.push_back(token.value);
    strands.push_back(Json::object({{"id", static_cast<std::int64_t>(strand.id)},
                                    {"parent", static_cast<std::int64_t>(strand.parent)},
                                    {"at", resume_pointer(strand)},
                                    {"waits", waits}}));
  }
  Json waits = Json::array();
  for (const Wait& wait : snapshot.waits) waits.push_back(document(wait));
  Json signals = Json::array();
  for (const BufferedSignal& signal : snapshot.signals) signals.push_back(document(signal));
  Json json = Json::object({{"id", snapshot.instance.value},
                            {"definition", snapshot.program.name},
                            {"version", snapshot.program.version},
                            {"digest", snapshot.program.digest},
                            {"state_version", static_cast<std::int64_t>(snapshot.state_version)},
                            {"format", snapshot.pieces.set ? snapshot_format : 1},
                            {"status", to_string(snapshot.status)},
                            {"input", snapshot.input},
                            {"state", snapshot.state},
                            {"output", snapshot.output},
                            {"reference", reference_document(snapshot.reference)},
                            {"strands", strands},
                            {"waits", waits},
                            {"signals", signals},
                            {"compensations", static_cast<std::int64_t>(snapshot.compensations.size())},
                            {"last_event", snapshot.last_event}});
  if (snapshot.error) json.set("error", to_json(*snapshot.error));
  return json;
}

Json document(const InstanceAnswer& answer) {
  Json json = Json::object({{"id", answer.instance.value},
                            {"status", to_string(answer.status)},
                            {"state_version", static_cast<std::int64_t>(answer.state_version)}});
  if (answer.status == Status::completed) json.set("output", answer.output);
  if (answer.repeated) json.set("repeated", true);
  return json;
}

Json document(const TaskRow& row) {
  Json json = Json::object({{"id", row.id.value},
                            {"instance", row.instance.value},
                            {"step", row.step},
                            {"name", row.name},
                            {"title", row.title},
                            {"status", to_string(row.status)},
                            {"state_version", static_cast<std::int64_t>(row.state_version)},
                            {"roles", texts(row.roles)},
                            {"exclude", texts(row.exclude)},
                            {"priority", row.priority},
                            {"payload", row.payload},
                            {"form", row.form},
                            {"reference", reference_document(row.reference)},
                            {"created_at", format_timestamp(row.created_at)}});
  if (!row.managers.empty()) json.set("managers", texts(row.managers));
  if (!row.assignee.empty()) json.set("assignee", row.assignee);
  if (row.due) json.set("due", format_timestamp(*row.due));
  if (row.deadline) json.set("deadline", format_timestamp(*row.deadline));
  if (!row.completed_by.empty()) json.set("completed_by", row.completed_by);
  if (row.completed_at) json.set("completed_at", format_timestamp(*row.completed_at));
  return json;
}

Json document(const SignalOutcome& outcome) {
  Json instances = Json::array();
  for (const InstanceId& id : outcome.delivered) instances.push_back(id.value);
  return Json::object({{"instances", instances}, {"kept", outcome.kept}, {"repeated", outcome.duplicate}});
}

Json document(const KeptSignal& signal) {
  return Json::object({{"number", signal.number},
                       {"id", unscoped_id(signal.id)},
                       {"name", signal.name},
                       {"key", signal.key},
                       {"payload", signal.payload},
                       {"at", format_timestamp(signal.at)},
                       {"until", signal.until ? Json(format_timestamp(*signal.until)) : Json()}});
}

Json document(const BufferedSignal& signal) {
  return Json::object({{"id", signal.id},
                       {"name", signal.name},
                       {"key", signal.key},
                       {"payload", signal.payload},
                       {"at", format_timestamp(signal.at)},
                       {"until", signal.until ? Json(format_timestamp(*signal.until)) : Json()}});
}

Json document(const TaskEvent& event) {
  return Json::object({{"task", event.task.value},
                       {"event", to_string(event.kind)},
                       {"at", format_timestamp(event.at)},
                       {"actor", event.actor},
                       {"details", event.details}});
}

Json document(const Wait& wait) {
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

Json document(const HistoryRow& row) {
  Json json = Json::object({{"sequence", row.sequence},
                            {"state_version", static_cast<std::int64_t>(row.state_version)},
                            {"event", to_string(row.entry.kind)},
                            {"step", row.entry.step},
                            {"at", format_timestamp(row.entry.at)},
                            {"actor", row.entry.actor},
                            {"attempt", row.entry.attempt},
                            {"details", row.entry.details}});
  if (!row.entry.visit.empty()) json.set("visit", row.entry.visit);
  return json;
}

}  // namespace cairn::api
