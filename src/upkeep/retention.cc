#include "upkeep/retention.h"

#include <algorithm>

#include "base/log.h"
#include "upkeep/age.h"
#include "upkeep/retire_audit.h"
#include "upkeep/stale_work.h"

namespace cairn {

namespace {

constexpr const char* lock_name = "retention";
const Duration lock_length = Duration::of_seconds(60);
// A lock that is valid for so long is not extended before the next piece of work.
const Duration lock_left_min = Duration::of_seconds(40);

// Every sweep removes, independent of the policy, buffered signals that have expired and accounts of tokens that have
// not been used for long. Any node may do this at any time.
Result<RetentionReport> purge_expired(UpkeepStore& store, const std::function<bool()>& stop) {
  CAIRN_TRY_VOID(store.retire_instances({{}, store.now(), 0}));
  constexpr std::size_t pieces_max = 1000;
  CAIRN_TRY_VOID(store.collect_pieces(pieces_max));
  RetentionReport report;
  RowRetention request;
  request.users_before = earlier(store.now(), token_users_kept);
  RowRetentionOutcome batch;
  do {
    CAIRN_TRY(batch, store.retire_rows(request));
    report.users += batch.users;
  } while (batch.more && batch.users > 0 && !(stop && stop()));
  return report;
}

class Sweep {
 public:
  Sweep(EngineCore& core, const RetentionPolicy& policy, const std::function<bool()>& stop)
      : core_(core), store_(core.store()), policy_(policy), stop_(stop), began_(store_.now()) {}

  Result<RetentionReport> run() {
    CAIRN_TRY(const bool ours, hold());
    report_.ran = ours;
    if (!ours) return report_;
    const auto done = sweep();
    for (const auto& [name, count] : retention_counts) core_.removed().add(name, report_.*count);
    if (lock_) CAIRN_TRY_VOID(store_.drop_lock(*lock_));
    if (!done) return done.error();
    return report_;
  }

 private:
  // Extends the lock before each batch: a node that was paused too long must not continue beside its successor.
  Result<bool> hold() {
    if (lock_ && after(store_.now(), lock_left_min) < lock_->until) return true;
    CAIRN_TRY(lock_, store_.hold_lock(lock_name, core_.node(), lock_length));
    return lock_.has_value();
  }
  Result<bool> may_continue() {
    report_.more = report_.more || (stop_ && stop_());
    return report_.more ? Result<bool>(false) : hold();
  }

  Result<void> sweep() {
    note(purge());
    note(end_stale_work());
    note(retire(Status::completed, policy_.completed));
    note(retire(Status::failed, policy_.failed));
    note(retire(Status::cancelled, policy_.cancelled));
    note(retire_rows());
    note(retire_audit_rows());
    if (failed_) return *failed_;
    return {};
  }

  void note(const Result<void>& done) {
    if (done) return;
    if (failed_) {
      log_error("retention.failed", done.error());
    } else {
      failed_ = done.error();
    }
  }

  Result<void> purge() {
    CAIRN_TRY(const RetentionReport purged, purge_expired(store_, stop_));
    report_.users += purged.users;
    return {};
  }

  Result<void> end_stale_work() {
    const MayContinue go_on = [this] { return may_continue(); };
    if (policy_.stale_tasks) {
      CAIRN_TRY(report_.stale_tasks, expire_stale_tasks(core_, *policy_.stale_tasks, go_on));
    }
    if (policy_.stale_instances) {
      CAIRN_TRY(report_.stale_instances, cancel_stale_instances(core_, *policy_.stale_instances, go_on));
    }
    return {};
  }

  Result<void> retire(Status status, const std::optional<Duration>& age) {
    if (!age) return {};
    RetentionRequest request;
    request.statuses = {status};
    request.max = policy_.batch;
    while (true) {
      CAIRN_TRY(const bool ours, may_continue());
      if (!ours) return {};
      request.ended_before = earlier(began_, *age);
      CAIRN_TRY(const RetentionOutcome batch, store_.retire_instances(request));
      report_.instances += batch.instances;
      if (!batch.more || batch.instances == 0) return {};
    }
  }

  Result<void> retire_rows() {
    while (true) {
      CAIRN_TRY(const bool ours, may_continue());
      if (!ours) return {};
      const auto before = [this](const std::optional<Duration>& age) {
        return age ? std::optional(earlier(began_, *age)) : std::nullopt;
      };
      RowRetention request;
      request.runs_before = before(policy_.runs);
      request.deleted_runs_before = before(policy_.deleted_runs);
      request.run_events_before = before(policy_.run_events);
      request.dead_letters_before = before(policy_.dead_letters);
      request.outbox_before = before(policy_.outbox);
      request.keys_before = before(policy_.keys);
      CAIRN_TRY(const RowRetentionOutcome batch, store_.retire_rows(request));
      report_.runs += batch.runs;
      report_.deleted_runs += batch.deleted_runs;
      report_.run_events += batch.run_events;
      report_.dead_letters += batch.dead_letters;
      report_.outbox += batch.outbox;
      report_.keys += batch.keys;
      if (!batch.more || batch.removed() == 0) return {};
    }
  }

  Result<void> retire_audit_rows() {
    const auto& archive = core_.context().options.audit_archive;
    if (!policy_.audit || !archive) return {};
    CAIRN_TRY(report_.audit,
              retire_audit(store_, *archive, core_.node(), *policy_.audit, [this] { return may_continue(); }));
    return {};
  }

  EngineCore& core_;
  Store& store_;
  const RetentionPolicy& policy_;
  const std::function<bool()>& stop_;
  const Timestamp began_;
  std::optional<HostLock> lock_;
  std::optional<Error> failed_;
  RetentionReport report_;
};

}  // namespace

bool RetentionPolicy::keeps_everything() const {
  return std::none_of(std::begin(retention_periods), std::end(retention_periods),
                      [this](const auto& kind) { return (this->*kind.second).has_value(); });
}

std::size_t RetentionReport::total() const {
  std::size_t total = 0;
  for (const auto& [name, count] : retention_counts) total += this->*count;
  return total;
}

RetentionPolicy policy_of(const KeepFor& keep) {
  return {.completed = keep.completed,
          .failed = keep.failed,
          .cancelled = keep.cancelled,
          .runs = keep.runs,
          .deleted_runs = keep.deleted_runs,
          .run_events = keep.run_events,
          .dead_letters = keep.dead_letters,
          .outbox = keep.outbox,
          .keys = keep.keys,
          .audit = keep.audit,
          .stale_tasks = keep.stale_tasks,
          .stale_instances = keep.stale_instances};
}

Result<RetentionReport> run_retention(EngineCore& core, const RetentionPolicy& policy,
                                      const std::function<bool()>& stop) {
  if (policy.audit && !core.context().options.audit_archive) {
    return Error{ErrorCode::invalid,
                 "audit rows are exported before they are removed: set audit.export_folder and audit.signing_key"};
  }
  return Sweep(core, policy, stop).run();
}

RetentionLoop::RetentionLoop(EngineCore& core, RetentionPolicy policy, std::chrono::milliseconds every)
    : core_(core), policy_(policy), every_(every) {}

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
        policy_.keeps_everything() ? purge_expired(core_.store(), stopping) : run_retention(core_, policy_, stopping);
    if (!swept) {
      log_error("retention.failed", swept.error());
    } else if (swept->total() > 0) {
      LogFields fields;
      for (const auto& [name, count] : retention_counts) {
        if ((*swept).*count > 0) fields.emplace_back(name, static_cast<std::int64_t>((*swept).*count));
      }
      log_info("retention.done", fields);
    }
    std::unique_lock lock(mutex_);
    if (stopped_.wait_for(lock, every_, [this] { return stopping_; })) return;
  }
}

}  // namespace cairn
