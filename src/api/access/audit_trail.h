// Writes the audit trail in batches. The answer to a human decision waits until its row is durable. Rows of bulk
// operations by programs (starts, signals, runs) are written with the next batch. Refused calls are counted and
// sampled. With a key the trail signs checkpoints of the chain.
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
#include "store/access_store.h"

namespace cairn::api {

struct AuditSettings {
  std::optional<Ed25519PrivateKey> signing_key;  // empty: no checkpoints
  std::chrono::milliseconds checkpoint_every{600'000};
  std::chrono::milliseconds refused_every{10'000};  // between two rows about the same refused calls
  std::string node = "node";
};

class AuditTrail {
 public:
  // `store` must outlive the trail.
  explicit AuditTrail(AccessStore& store, AuditSettings settings = {});
  ~AuditTrail();  // writes pending rows and a final checkpoint
  AuditTrail(const AuditTrail&) = delete;
  AuditTrail& operator=(const AuditTrail&) = delete;

  // Calls `written` after the row is durable or has failed to be written; a failure is logged.
  void add(AuditRow row, std::function<void()> written = {});
  // Records a refused call. The first refusal of a caller and operation is written; later ones are counted. Every
  // `refused_every` one row with `details.repeated` summarizes them.
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
    std::int64_t more = 0;  // refusals without a row yet
    Instant written;
  };
  void run(const std::stop_token& stop);
  // Requires the mutex.
  Instant next_wake() const;
  void take_refused(Instant now, bool all);
  void write(std::vector<Entry> batch);
  // Signs the end of the chain if there are new rows.
  void checkpoint();
  Result<void> find_end();
  // Verifies the chain to its end; false if it is broken.
  Result<bool> follow_chain();

  AccessStore& store_;
  const AuditSettings settings_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Entry> entries_;
  std::map<std::string, Refused> refused_;  // by caller and operation
  Instant next_checkpoint_;
  // Used only by the thread: the verified part of the chain.
  std::optional<std::int64_t> position_;
  std::string hash_;
  bool unsigned_rows_ = false;
  std::jthread thread_;
};

}  // namespace cairn::api
