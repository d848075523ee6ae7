#include "api/telemetry/store_metrics.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>

#include "base/log.h"
#include "engine/workflow_counts.h"

namespace cairn::api {
namespace {

constexpr std::size_t counted_max = 100'000;
constexpr std::chrono::seconds kept_min{5};
// A store that takes long to count is asked less often, so that it counts for a twentieth of the time at most.
constexpr int kept_times = 20;

double seconds_since(const std::optional<Timestamp>& since, Timestamp now) {
  return since ? static_cast<double>(std::max<std::int64_t>(0, now.unix_ms() - since->unix_ms())) / 1e3 : 0;
}

// The label of a name: its own, or `other` if there are too many already. The store's sum of the names that it does not
// count separately has no name.
template <class Map>
std::string bounded_label(const Map& labels, std::string_view name) {
  std::string own(name);
  return !own.empty() && (labels.contains(own) || labels.size() < workflow_labels_max) ? own : other_label;
}

std::vector<MetricSample> instances_open(const StoreFigures& figures) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> counts;  // active and suspended
  for (const DefinitionFigures& one : figures.definitions) {
    auto& [active, suspended] = counts[bounded_label(counts, one.definition)];
    active += one.active;
    suspended += one.suspended;
  }
  std::vector<MetricSample> samples;
  for (const auto& [definition, both] : counts) {
    samples.push_back({{{"definition", definition}, {"status", "active"}}, static_cast<double>(both.first)});
    samples.push_back({{{"definition", definition}, {"status", "suspended"}}, static_cast<double>(both.second)});
  }
  return samples;
}

std::map<std::string, QueueFigures> queues_by_prefix(const StoreFigures& figures) {
  std::map<std::string, QueueFigures> queues;
  for (const QueueFigures& one : figures.queues) {
    QueueFigures& queue = queues[bounded_label(queues, type_prefix(one.type))];
    queue.ready += one.ready;
    if (!queue.ready_since || one.ready_since < queue.ready_since) queue.ready_since = one.ready_since;
  }
  return queues;
}

std::vector<MetricSample> queue_depths(const StoreFigures& figures) {
  std::vector<MetricSample> samples;
  for (const auto& [prefix, queue] : queues_by_prefix(figures)) {
    samples.push_back({{{"type_prefix", prefix}}, static_cast<double>(queue.ready)});
  }
  return samples;
}

std::vector<MetricSample> queue_ages(const StoreFigures& figures, Timestamp now) {
  std::vector<MetricSample> samples;
  for (const auto& [prefix, queue] : queues_by_prefix(figures)) {
    samples.push_back({{{"type_prefix", prefix}}, seconds_since(queue.ready_since, now)});
  }
  return samples;
}

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
    return seconds_since((*figures_).*member, now_);
  }
  // The samples that `make` makes of the figures; none if the store does not answer.
  template <class Make>
  std::vector<MetricSample> samples(Make make) {
    const std::scoped_lock lock(mutex_);
    look();
    return figures_ ? make(*figures_, now_) : std::vector<MetricSample>();
  }

 private:
  void look() {
    const auto began = std::chrono::steady_clock::now();
    if (looks_again_ && began < *looks_again_) return;
    now_ = store_.now();
    auto found = store_.figures(counted_max);
    const auto ended = std::chrono::steady_clock::now();
    looks_again_ = ended + std::max<std::chrono::steady_clock::duration>(kept_min, (ended - began) * kept_times);
    if (!found) log_warning("metrics.no_figures", {{"message", found.error().message}});
    figures_ = found ? std::optional(*found) : std::nullopt;
  }

  UpkeepStore& store_;
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> looks_again_;
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
  age("cairn_runs_leased_age_seconds", "How long the oldest lease of a run has lasted.",
      &StoreFigures::run_leased_since);
  age("cairn_messages_age_seconds", "How long the oldest message has waited.", &StoreFigures::message_since);
  age("cairn_outbox_age_seconds", "How long the oldest event has waited to be published.", &StoreFigures::event_since);
  age("cairn_timers_late_seconds", "How late the earliest due timer is.", &StoreFigures::timer_due_since);
  metrics.family("cairn_instances_open", "Instances that have not ended, by definition and status.", "gauge", [last] {
    return last->samples([](const StoreFigures& figures, Timestamp) { return instances_open(figures); });
  });
  metrics.family(
      "cairn_queue_runs_ready", "Runs that wait for a worker, by the prefix of their type.", "gauge",
      [last] { return last->samples([](const StoreFigures& figures, Timestamp) { return queue_depths(figures); }); });
  metrics.family("cairn_queue_age_seconds",
                 "How long the oldest run has waited for a worker, by the prefix of its type.", "gauge",
                 [last] { return last->samples(queue_ages); });
}

}  // namespace cairn::api
