#include "server/audit_trail.h"

#include "base/log.h"

namespace cairn::server {

AuditTrail::AuditTrail(Store& store) : store_(store), thread_([this](const std::stop_token& stop) { run(stop); }) {}

AuditTrail::~AuditTrail() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void AuditTrail::add(AuditRow row, std::function<void()> written) {
  const std::scoped_lock lock(mutex_);
  entries_.push_back({std::move(row), std::move(written)});
  changed_.notify_one();
}

std::size_t AuditTrail::waiting() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

void AuditTrail::run(const std::stop_token& stop) {
  for (;;) {
    std::vector<Entry> batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !entries_.empty(); });
      if (entries_.empty()) return;
      batch.swap(entries_);
    }
    std::vector<AuditRow> rows;
    rows.reserve(batch.size());
    for (const Entry& entry : batch) rows.push_back(entry.row);
    if (const auto done = store_.append_audit(rows); !done) {
      log_error("audit.not_written", done.error(), {{"rows", static_cast<std::int64_t>(rows.size())}});
    }
    for (const Entry& entry : batch) {
      if (entry.written) entry.written();
    }
  }
}

}  // namespace cairn::server
