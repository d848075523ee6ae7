// Writes the audit trail in batches. What people decide waits until its row is durable; what programs do in
// bulk (starts, signals, runs) is written within the next batch. Refused calls are counted and sampled. With a key it
// signs checkpoints of the chain.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/ed25519.h"
#include "store/store.h"

namespace cairn::server {

struct AuditSettings {
  std::optional<Ed25519PrivateKey> signing_key;  // absent: no checkpoints
  std::chrono::milliseconds checkpoint_every{600'000};
  std::chrono::milliseconds refused_every{10'000};  // between two rows about the same refused calls
  std::string node = "node";
};

class AuditTrail {
 public:
  // `store` outlives it.
  explicit AuditTrail(Store& store, AuditSettings settings = {});
  ~AuditTrail();  // writes what waits, and a last checkpoint
  AuditTrail(const AuditTrail&) = delete;
  AuditTrail& operator=(const AuditTrail&) = delete;

  // `written` is called once the row is durable, or could not be written (that is logged).
  void add(AuditRow row, std::function<void()> written = {});
  // A call that was refused. The first one of a caller and operation is written; the next ones are counted, and every
  // `refused_every` one row with `details.repeated` stands for them.
  void add_refused(AuditRow row);
  std::size_t waiting() const;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  struct Entry {
    AuditRow row;
    std::function<void()> written;
  };
  struct Refused {
    AuditRow last;
    std::int64_t more = 0;  // that no row stands for yet
    Instant written;
  };
  void run(const std::stop_token& stop);
  // With the mutex.
  Instant next_wake() const;
  void take_refused(Instant now, bool all);
  void write(std::vector<Entry> batch);
  // Signs the end of the chain, if there is something new.
  void checkpoint();
  Result<void> find_end();
  // Goes on to the end of the chain; false when it does not fit.
  Result<bool> follow_chain();

  Store& store_;
  const AuditSettings settings_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Entry> entries_;
  std::map<std::string, Refused> refused_;  // by caller and operation
  Instant next_checkpoint_;
  // The thread's own: up to where the chain has been followed.
  std::optional<std::int64_t> position_;
  std::string hash_;
  bool unsigned_rows_ = false;
  std::jthread thread_;
};

}  // namespace cairn::server
