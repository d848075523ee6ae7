// Writes the audit trail in batches. What people decide waits until its row is durable; what programs do in
// bulk (starts, signals, runs) is written within the next batch.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "store/store.h"

namespace cairn::server {

class AuditTrail {
 public:
  // `store` outlives it.
  explicit AuditTrail(Store& store);
  ~AuditTrail();  // writes what waits
  AuditTrail(const AuditTrail&) = delete;
  AuditTrail& operator=(const AuditTrail&) = delete;

  // `written` is called once the row is durable, or could not be written (that is logged).
  void add(AuditRow row, std::function<void()> written = {});
  std::size_t waiting() const;

 private:
  struct Entry {
    AuditRow row;
    std::function<void()> written;
  };
  void run(const std::stop_token& stop);

  Store& store_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Entry> entries_;
  std::jthread thread_;
};

}  // namespace cairn::server
