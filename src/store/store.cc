#include "store/store.h"

namespace cairn {

namespace {
Error unsupported(const char* verb) {
  return {ErrorCode::unsupported, std::string("this store does not know ") + verb};
}
}  // namespace

Result<std::vector<std::pair<RunRow, bool>>> Store::submit_runs(std::span<const RunRow>) {
  return unsupported("submit_runs");
}
Result<void> Store::put_run_type(const RunTypeRow&) { return unsupported("put_run_type"); }
Result<bool> Store::remove_run_type(const std::string&) { return unsupported("remove_run_type"); }
Result<std::vector<RunTypeRow>> Store::list_run_types() { return unsupported("list_run_types"); }
Result<void> Store::postpone_outbox(std::int64_t, Duration) { return unsupported("postpone_outbox"); }
Result<Page<OutboxRow>> Store::list_outbox(const OutboxFilter&, const PageRequest&) {
  return unsupported("list_outbox");
}
Result<void> Store::record_deliveries(std::span<const Delivery>) { return unsupported("record_deliveries"); }
Result<std::vector<Delivery>> Store::list_deliveries(std::int64_t) { return unsupported("list_deliveries"); }
Result<bool> Store::resend_outbox(std::int64_t) { return unsupported("resend_outbox"); }
Result<PutSchedule> Store::put_schedule(const ScheduleRow&) { return unsupported("put_schedule"); }
Result<std::optional<ScheduleRow>> Store::find_schedule(const std::string&) { return unsupported("find_schedule"); }
Result<Page<ScheduleRow>> Store::list_schedules(const PageRequest&) { return unsupported("list_schedules"); }
Result<bool> Store::remove_schedule(const std::string&) { return unsupported("remove_schedule"); }
Result<std::vector<ScheduleRow>> Store::take_schedules(std::size_t, Duration) { return unsupported("take_schedules"); }
Result<void> Store::put_api_key(const ApiKeyRow&) { return unsupported("put_api_key"); }
Result<std::optional<ApiKeyRow>> Store::find_api_key(const std::string&) { return unsupported("find_api_key"); }
Result<std::vector<ApiKeyRow>> Store::list_api_keys() { return unsupported("list_api_keys"); }
Result<bool> Store::revoke_api_key(const std::string&) { return unsupported("revoke_api_key"); }
Result<void> Store::append_audit(std::span<const AuditRow>) { return unsupported("append_audit"); }
Result<Page<AuditRow>> Store::list_audit(const PageRequest&) { return unsupported("list_audit"); }
Result<RowRetentionOutcome> Store::retire_rows(const RowRetention&) { return unsupported("retire_rows"); }

}  // namespace cairn
