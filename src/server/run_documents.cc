#include "instance/carried_trace.h"
#include "server/documents.h"

namespace cairn::server {

Json document(const RunRow& row) {
  Json json = Json::object({{"id", row.id.value},
                            {"type", row.type},
                            {"status", to_string(row.status)},
                            {"priority", row.priority},
                            {"payload", without_trace(row.payload).value},
                            {"attempt", row.attempt},
                            {"max_attempts", row.attempts_max},
                            {"leases", row.leases},
                            {"fence", static_cast<std::int64_t>(row.fence)},
                            {"run_at", format_timestamp(row.run_at)},
                            {"created_at", format_timestamp(row.created_at)},
                            {"updated_at", format_timestamp(row.updated_at)}});
  if (!row.idempotency_key.empty()) json.set("idempotency_key", row.idempotency_key);
  if (row.status == RunStatus::succeeded) json.set("result", row.result);
  if (!row.error.is_null()) json.set("error", row.error);
  if (!row.last_error.empty()) json.set("last_error", row.last_error);
  if (row.lease_until) json.set("lease_until", format_timestamp(*row.lease_until));
  if (!row.leased_by.empty()) json.set("leased_by", row.leased_by);
  if (row.timeout) json.set("timeout", format_duration(*row.timeout));
  if (row.instance) json.set("instance", row.instance->value);
  if (!row.step.empty()) json.set("step", row.step);
  if (!row.limit_key.empty()) json.set("limit_key", row.limit_key);
  if (row.deleted_at) {
    json.set("deleted_at", format_timestamp(*row.deleted_at));
    json.set("delete_reason", row.delete_reason);
  }
  return json;
}

Json document(const RunEvent& event) {
  return Json::object({{"run", event.run.value},
                       {"event", event.kind},
                       {"at", format_timestamp(event.at)},
                       {"attempt", event.attempt},
                       {"actor", event.actor},
                       {"details", event.details}});
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

}  // namespace cairn::server
