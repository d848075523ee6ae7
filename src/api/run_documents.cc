#include "api/documents.h"
#include "api/object_text.h"
#include "engine/sender_scope.h"
#include "instance/carried_trace.h"
#include "instance/trace_id.h"
#include "store/lease_holder.h"

namespace cairn::api {

namespace {

// Writes into a Json or an ObjectText.
template <class Object>
void describe(const RunRow& row, std::string_view key, Object& object) {
  object.set("id", row.id.value);
  object.set("type", row.type);
  object.set("status", to_string(row.status));
  object.set("priority", row.priority);
  object.set("payload", without_trace(row.payload).value);
  object.set("attempt", row.attempt);
  object.set("max_attempts", row.attempts_max);
  object.set("leases", row.leases);
  object.set("fence", static_cast<std::int64_t>(row.fence));
  object.set("run_at", format_timestamp(row.run_at));
  object.set("created_at", format_timestamp(row.created_at));
  object.set("updated_at", format_timestamp(row.updated_at));
  // An id that the sender chose is also its key.
  if (!key.empty() && unscoped_id(key) != key_of_id(row.id.value)) object.set("idempotency_key", key);
  if (row.status == RunStatus::succeeded) object.set("result", row.result);
  if (!row.error.is_null()) object.set("error", row.error);
  if (!row.last_error.empty()) object.set("last_error", row.last_error);
  if (row.lease_until) object.set("lease_until", format_timestamp(*row.lease_until));
  if (!row.leased_by.empty()) {
    const LeaseHolder holder = LeaseHolder::parse(row.leased_by);
    object.set("leased_by", holder.label);
    if (!holder.account.empty()) object.set("lease_account", holder.account);
  }
  if (row.timeout) object.set("timeout", format_duration(*row.timeout));
  if (row.instance) object.set("instance", row.instance->value);
  if (!row.step.empty()) object.set("step", row.step);
  if (!row.limit_key.empty()) object.set("limit_key", row.limit_key);
  if (row.deleted_at) {
    object.set("deleted_at", format_timestamp(*row.deleted_at));
    object.set("delete_reason", row.delete_reason);
  }
}

}  // namespace

Json retry_document(const RunRow& row) {
  Json json = Json::object({{"run", row.id.value},
                            {"step", row.step},
                            {"attempt", row.attempt},
                            {"max_attempts", row.attempts_max},
                            {"last_error", row.last_error},
                            {"failed_at", format_timestamp(row.updated_at)}});
  if (row.error.is_object()) json.set("code", row.error.text_or("code", ""));
  // Absent while the next attempt is made.
  if (row.status == RunStatus::pending) json.set("next_at", format_timestamp(row.run_at));
  return json;
}

void add_retrying(RunStore& runs, const Snapshot& snapshot, Json& instance) {
  if (snapshot.status != Status::waiting && snapshot.status != Status::running) return;
  for (const Wait& wait : snapshot.waits) {
    if (wait.kind != WaitKind::run) continue;
    const auto run = runs.find_run({wait.target});
    if (!run || !*run || !is_retrying(**run)) continue;
    instance.set("retrying", retry_document(**run));
    return;
  }
}

Json document(const RunRow& row) {
  Json json = Json::object();
  describe(row, unscoped_id(row.idempotency_key), json);
  return json;
}

std::string leased_document(std::span<const RunRow> runs, Timestamp now) {
  constexpr std::size_t usual_size = 640;  // for a run without a large payload
  std::string text;
  text.reserve(usual_size * runs.size() + 16);
  text.append("{\"items\":[");
  for (const RunRow& run : runs) {
    if (&run != runs.data()) text.push_back(',');
    ObjectText object(text);
    // Includes the sender's prefix: a worker passes the key on, and keys of two senders must differ.
    describe(run, run.idempotency_key, object);
    // Also as a length, because the worker's clock may differ.
    if (run.lease_until) object.set("lease_ms", between(now, *run.lease_until).ms_up());
    object.set("traceparent", traceparent_of(trace_in(run.payload), run.instance, run.id, run.attempt));
    object.end();
  }
  return text.append("]}");
}

Json document(const RunEvent& event) {
  const LeaseHolder holder = LeaseHolder::parse(event.actor);
  Json json = Json::object({{"run", event.run.value},
                            {"event", event.kind},
                            {"at", format_timestamp(event.at)},
                            {"attempt", event.attempt},
                            {"actor", holder.actor()},
                            {"details", event.details}});
  if (!holder.account.empty()) {
    json.set("account", holder.account);
    if (!holder.label.empty()) json.set("worker", holder.label);
  }
  return json;
}

Json document(const RunTypeRow& row) {
  Json json = Json::object({{"type", row.type}, {"paused", row.paused}});
  if (row.lease) json.set("lease", format_duration(*row.lease));
  if (row.attempts_max) json.set("max_attempts", *row.attempts_max);
  if (row.backoff) json.set("backoff", format_duration(*row.backoff));
  if (row.cap) json.set("cap", format_duration(*row.cap));
  if (row.concurrency) json.set("concurrency", *row.concurrency);
  if (row.rate) {
    json.set("rate", *row.rate);
    json.set("rate_window", format_duration(row.rate_window));
  }
  if (!row.limit_key.empty()) json.set("limit_key", row.limit_key);
  return json;
}

}  // namespace cairn::api
