#include "node/loops.h"

#include <algorithm>

#include "base/log.h"
#include "schedule/schedules.h"
#include "store/projection.h"

namespace cairn::node {

namespace {

// After a failed read of the store, and before work that could not be done is repeated.
constexpr std::chrono::seconds retry_after{1};

// A batch of this size means that more timers are due.
constexpr std::size_t many_timers = 512;

// Converts `at` of the store's clock to the wall clock.
std::chrono::system_clock::time_point on_the_wall(Timestamp at, Timestamp store_now) {
  // Later times exceed the range of the clock: wait until this limit and look again.
  constexpr std::int64_t seconds_max = 4'000'000'000;
  Duration left = between(store_now, at);
  left.seconds = std::clamp(left.seconds, -seconds_max, seconds_max);
  return std::chrono::system_clock::now() + std::chrono::seconds(left.seconds) +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::nanoseconds(left.nanos));
}

}  // namespace

std::optional<Timestamp> next_look(std::optional<Timestamp> due, Timestamp looked_at) {
  if (!due || *due > looked_at) return due;
  return after(looked_at, Duration::of_seconds(retry_after.count()));
}

Loops::Loops(EngineCore& core, std::function<void()> runs_due)
    : core_(core),
      runs_due_(std::move(runs_due)),
      has_helper_(core.store().traits().writers > 1 || core.store().traits().commits_unsynced) {}

Loops::~Loops() { stop(); }

void Loops::start() {
  clock_watch_.emplace([this] {
    const std::lock_guard lock(mutex_);
    told_due_ = Timestamp();  // now
    timers_changed_.notify_one();
  });
  timers_thread_ = std::jthread([this] { run_timers(); });
  messages_thread_ = std::jthread([this] { run_messages(); });
  if (has_helper_) help_thread_ = std::jthread([this] { help_with_timers(); });
}

void Loops::stop() {
  clock_watch_.reset();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  timers_changed_.notify_all();
  messages_came_.notify_all();
  help_wanted_.notify_all();
  if (help_thread_.joinable()) help_thread_.join();
  if (timers_thread_.joinable()) timers_thread_.join();
  if (messages_thread_.joinable()) messages_thread_.join();
}

void Loops::wake(const Wakeup& wakeup) {
  const std::lock_guard lock(mutex_);
  if (wakeup.messages) {
    messages_ = true;
    messages_came_.notify_one();
  }
  // Nearly every commit writes a time, such as the end of a lease. It need not wake a thread that wakes up earlier
  // anyway.
  if (wakeup.due && (!told_due_ || *wakeup.due < *told_due_) && (!armed_ || *wakeup.due < *armed_)) {
    told_due_ = wakeup.due;
    timers_changed_.notify_one();
  }
  for (const InstanceId& id : wakeup.ended) {
    if (id.value.empty()) {
      // An unspecific notification: a node is gone or a notification was lost. The node may have left deferred slices.
      cut_ = true;
      told_due_ = Timestamp();
      timers_changed_.notify_one();
      continue;
    }
    auto schedule = schedule_of(id.value);
    if (!schedule) continue;
    released_.insert(std::move(*schedule));
    told_due_ = Timestamp();  // now
    timers_changed_.notify_one();
  }
}

void Loops::run_timers() {
  // What schedules have queued and could not be started, and at first what the last process has left.
  std::set<std::string> left;
  bool left_any = true;
  for (;;) {
    // Work that becomes due after this instant is handled in the next pass.
    const Timestamp looked_at = core_.store().now();
    std::set<std::string> released;
    bool cut = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      released.swap(released_);
      cut = std::exchange(cut_, false);
      // Reset before the store is read: writes from now on notify this thread and are not missed.
      told_due_.reset();
    }
    released.merge(std::exchange(left, {}));
    for (const std::string& schedule : released) {
      if (!start_queued(core_, schedule)) left.insert(schedule);
    }
    if (cut) core_.due().resume_interrupted_slices();
    if (left_any || cut) left_any = !start_all_queued(core_);
    const std::size_t fired = core_.due().fire_timers();
    if (fired >= many_timers && has_helper_) {
      const std::lock_guard lock(mutex_);
      help_ = true;
      help_wanted_.notify_one();
    }
    const bool busy =
        fired + core_.due().end_exhausted_runs() + core_.due().expire_signals() + fire_schedules(core_) > 0;
    runs_due_();
    if (busy) continue;
    const auto due = core_.due().next_due(looked_at);
    if (!due) log_error("timers.failed", due.error());

    std::unique_lock lock(mutex_);
    std::optional<Timestamp> armed = due ? next_look(*due, looked_at) : std::nullopt;
    if (left_any || !left.empty()) {
      const Timestamp again = after(looked_at, Duration::of_seconds(retry_after.count()));
      armed = std::min(armed.value_or(again), again);
    }
    while (!stopping_) {
      if (told_due_ && (!armed || *told_due_ < *armed)) armed = told_due_;
      told_due_.reset();
      const auto changed = [this] { return stopping_ || told_due_.has_value(); };
      if (!due) {
        timers_changed_.wait_for(lock, retry_after, changed);
        break;
      }
      if (!armed) {
        timers_changed_.wait(lock, changed);
        continue;
      }
      // Sleep by the wall clock, so that setting the clock forward fires due timers. `clock_watch_` detects a clock
      // that is set back: the store's time continues, and the remaining wait is computed again.
      armed_ = armed;
      const bool told = timers_changed_.wait_until(lock, on_the_wall(*armed, core_.store().now()), changed);
      armed_.reset();
      if (!told) break;
    }
    // Messages that could not be delivered return when their claim expires.
    messages_ = true;
    messages_came_.notify_one();
  }
}

// Reads and decides one batch while another waits for the disk.
void Loops::help_with_timers() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      help_wanted_.wait(lock, [this] { return stopping_ || help_; });
      if (stopping_) return;
      help_ = false;
    }
    while (core_.due().fire_timers() >= many_timers) {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
  }
}

void Loops::run_messages() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      messages_came_.wait(lock, [this] { return stopping_ || messages_; });
      if (stopping_) return;
      messages_ = false;
    }
    while (core_.due().dispatch_messages() > 0) {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
  }
}

}  // namespace cairn::node
