#include "upkeep/retention.h"

#include "base/log.h"

namespace cairn {

namespace {

constexpr const char* lock_name = "retention";
const Duration lock_length = Duration::of_seconds(60);

Timestamp before(Timestamp now, Duration age) {
  const auto back = negate(age);
  return back ? add(now, *back).value_or(Timestamp{}) : Timestamp{};
}

// Every sweep removes, independent of the policy, buffered signals that have expired and accounts of tokens that have
// not been used for long. Any node may do this at any time.
Result<RetentionReport> purge_expired(UpkeepStore& store, const std::function<bool()>& stop) {
  CAIRN_TRY_VOID(store.retire_instances({{}, store.now(), 0}));
  constexpr std::size_t pieces_max = 1000;
  CAIRN_TRY_VOID(store.collect_pieces(pieces_max));
  RetentionReport report;
  RowRetention request;
  request.users_before = before(store.now(), token_users_kept);
  RowRetentionOutcome batch;
  do {
    CAIRN_TRY(batch, store.retire_rows(request));
    report.users += batch.users;
  } while (batch.more && batch.users > 0 && !(stop && stop()));
  return report;
}

class Sweep {
 public:
  Sweep(UpkeepStore& store, const std::string& owner, const RetentionPolicy& policy, const std::function<bool()>& stop)
      : store_(store), owner_(owner), policy_(policy), stop_(stop) {}

  Result<RetentionReport> run() {
    CAIRN_TRY(const bool ours, hold());
    report_.ran = ours;
    if (!ours) return report_;
    const auto done = sweep();
    if (lock_) CAIRN_TRY_VOID(store_.drop_lock(*lock_));
    if (!done) return done.error();
    return report_;
  }

 private:
  // Extends the lock before each batch: a node that was paused too long must not continue beside its successor.
  Result<bool> hold() {
    CAIRN_TRY(lock_, store_.hold_lock(lock_name, owner_, lock_length));
    return lock_.has_value();
  }
  Result<bool> may_continue() {
    if (stop_ && stop_()) return false;
    return hold();
  }

  Result<void> sweep() {
    CAIRN_TRY(const RetentionReport purged, purge_expired(store_, stop_));
    report_.users += purged.users;
    CAIRN_TRY_VOID(retire(Status::completed, policy_.completed));
    CAIRN_TRY_VOID(retire(Status::failed, policy_.failed));
    CAIRN_TRY_VOID(retire(Status::cancelled, policy_.cancelled));
    return retire_rows();
  }

  Result<void> retire(Status status, const std::optional<Duration>& age) {
    if (!age) return {};
    RetentionRequest request;
    request.statuses = {status};
    request.max = policy_.batch;
    while (true) {
      CAIRN_TRY(const bool ours, may_continue());
      if (!ours) return {};
      request.ended_before = before(store_.now(), *age);
      CAIRN_TRY(const RetentionOutcome batch, store_.retire_instances(request));
      report_.instances += batch.instances;
      if (!batch.more || batch.instances == 0) return {};
    }
  }

  Result<void> retire_rows() {
    if (!policy_.runs && !policy_.outbox && !policy_.keys) return {};
    while (true) {
      CAIRN_TRY(const bool ours, may_continue());
      if (!ours) return {};
      const Timestamp now = store_.now();
      RowRetention request;
      if (policy_.runs) request.runs_before = before(now, *policy_.runs);
      if (policy_.outbox) request.outbox_before = before(now, *policy_.outbox);
      if (policy_.keys) request.keys_before = before(now, *policy_.keys);
      CAIRN_TRY(const RowRetentionOutcome batch, store_.retire_rows(request));
      report_.runs += batch.runs;
      report_.outbox += batch.outbox;
      report_.keys += batch.keys;
      if (!batch.more || batch.runs + batch.outbox + batch.keys == 0) return {};
    }
  }

  UpkeepStore& store_;
  const std::string& owner_;
  const RetentionPolicy& policy_;
  const std::function<bool()>& stop_;
  std::optional<HostLock> lock_;
  RetentionReport report_;
};

}  // namespace

Result<RetentionReport> run_retention(UpkeepStore& store, const std::string& owner, const RetentionPolicy& policy,
                                      const std::function<bool()>& stop) {
  return Sweep(store, owner, policy, stop).run();
}

RetentionLoop::RetentionLoop(UpkeepStore& store, std::string owner, RetentionPolicy policy,
                             std::chrono::milliseconds every)
    : store_(store), owner_(std::move(owner)), policy_(policy), every_(every) {}

RetentionLoop::~RetentionLoop() { stop(); }

void RetentionLoop::start() {
  if (every_.count() <= 0) return;
  thread_ = std::jthread([this] { run(); });
}

void RetentionLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RetentionLoop::run() {
  const auto stopping = [this] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  };
  while (true) {
    const auto swept =
        policy_.keeps_everything() ? purge_expired(store_, stopping) : run_retention(store_, owner_, policy_, stopping);
    if (!swept) {
      log_error("retention.failed", swept.error());
    } else if (swept->instances + swept->runs + swept->outbox + swept->keys + swept->users > 0) {
      log_info("retention.done", {{"instances", static_cast<std::int64_t>(swept->instances)},
                                  {"runs", static_cast<std::int64_t>(swept->runs)},
                                  {"outbox", static_cast<std::int64_t>(swept->outbox)},
                                  {"keys", static_cast<std::int64_t>(swept->keys)},
                                  {"token_users", static_cast<std::int64_t>(swept->users)}});
    }
    std::unique_lock lock(mutex_);
    if (stopped_.wait_for(lock, every_, [this] { return stopping_; })) return;
  }
}

}  // namespace cairn
