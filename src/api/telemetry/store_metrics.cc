#include "api/telemetry/store_metrics.h"

#include <limits>
#include <memory>

#include "base/log.h"

namespace cairn::api {
namespace {

constexpr std::size_t counted_max = 100'000;
constexpr std::chrono::seconds kept{5};

// The last query of the store, shared by the gauges. If the store does not answer, the values are NaN instead of
// outdated.
class LastLook {
 public:
  explicit LastLook(UpkeepStore& store) : store_(store) {}

  double count(std::size_t StoreFigures::*member) {
    const std::scoped_lock lock(mutex_);
    look();
    return figures_ ? static_cast<double>((*figures_).*member) : std::numeric_limits<double>::quiet_NaN();
  }
  double age(std::optional<Timestamp> StoreFigures::*member) {
    const std::scoped_lock lock(mutex_);
    look();
    if (!figures_) return std::numeric_limits<double>::quiet_NaN();
    const auto& since = (*figures_).*member;
    return since ? static_cast<double>(std::max<std::int64_t>(0, now_.unix_ms() - since->unix_ms())) / 1e3 : 0;
  }

 private:
  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (looked_ && now - *looked_ < kept) return;
    looked_ = now;
    now_ = store_.now();
    auto found = store_.figures(counted_max);
    if (!found) log_warning("metrics.no_figures", {{"message", found.error().message}});
    figures_ = found ? std::optional(*found) : std::nullopt;
  }

  UpkeepStore& store_;
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> looked_;
  Timestamp now_;
  std::optional<StoreFigures> figures_;
};

}  // namespace

void add_store_metrics(Metrics& metrics, UpkeepStore& store) {
  const auto last = std::make_shared<LastLook>(store);  // shared by the gauges
  const auto count = [&](const char* name, const char* help, std::size_t StoreFigures::*member) {
    metrics.gauge(name, help, [last, member] { return last->count(member); });
  };
  const auto age = [&](const char* name, const char* help, std::optional<Timestamp> StoreFigures::*member) {
    metrics.gauge(name, help, [last, member] { return last->age(member); });
  };
  count("cairn_instances_suspended", "Instances with an incident.", &StoreFigures::suspended);
  count("cairn_instances_failed", "Failed instances in the store.", &StoreFigures::failed);
  count("cairn_tasks_open", "Human tasks that are open or assigned.", &StoreFigures::tasks_open);
  count("cairn_runs_ready", "Runs that wait for a worker.", &StoreFigures::runs_ready);
  count("cairn_runs_leased", "Runs that are leased.", &StoreFigures::runs_leased);
  count("cairn_messages_waiting", "Messages that are not delivered yet.", &StoreFigures::messages);
  count("cairn_outbox_waiting", "Events that are not published yet.", &StoreFigures::events_unpublished);
  count("cairn_dead_letters", "Messages that could not be handled.", &StoreFigures::dead_letters);
  age("cairn_runs_ready_age_seconds", "How long the oldest run has waited for a worker.",
      &StoreFigures::run_ready_since);
  age("cairn_messages_age_seconds", "How long the oldest message has waited.", &StoreFigures::message_since);
  age("cairn_outbox_age_seconds", "How long the oldest event has waited to be published.", &StoreFigures::event_since);
  age("cairn_timers_late_seconds", "How late the earliest due timer is.", &StoreFigures::timer_due_since);
}

}  // namespace cairn::api
