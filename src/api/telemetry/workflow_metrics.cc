#include "api/telemetry/workflow_metrics.h"

#include <cstdio>

namespace cairn::api {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

std::string bound_text(std::size_t bucket) {
  if (bucket == DurationHistogram::bounds.size()) return "+Inf";
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", DurationHistogram::bounds[bucket]);
  return text;
}

void add_histogram(std::vector<MetricSample>& samples, const Labels& labels, const DurationHistogram& histogram) {
  std::uint64_t below = 0;
  for (std::size_t bucket = 0; bucket < histogram.buckets.size(); ++bucket) {
    below += histogram.buckets[bucket];
    Labels with_bound = labels;
    with_bound.emplace_back("le", bound_text(bucket));
    samples.push_back({std::move(with_bound), static_cast<double>(below), "_bucket"});
  }
  samples.push_back({labels, static_cast<double>(histogram.sum_ms) / 1e3, "_sum"});
  samples.push_back({labels, static_cast<double>(histogram.count), "_count"});
}

std::vector<MetricSample> by_name(std::string_view label, const WorkflowCounts::ByName& counts) {
  std::vector<MetricSample> samples;
  for (const auto& [name, count] : counts) samples.push_back({{{label, name}}, static_cast<double>(count)});
  return samples;
}

}  // namespace

void add_workflow_metrics(Metrics& metrics, const WorkflowCounts& counts) {
  metrics.family("cairn_instances_started_total", "Instances that this node has started, by definition.", "counter",
                 [&counts] { return by_name("definition", counts.started()); });
  metrics.family("cairn_instances_ended_total",
                 "Instances whose end this node has committed, by definition and status.", "counter", [&counts] {
                   std::vector<MetricSample> samples;
                   for (const auto& [key, count] : counts.ended()) {
                     samples.push_back(
                         {{{"definition", key.first}, {"status", to_string(key.second)}}, static_cast<double>(count)});
                   }
                   return samples;
                 });
  metrics.family("cairn_step_duration_seconds", "How long steps waited, by definition and step.", "histogram",
                 [&counts] {
                   std::vector<MetricSample> samples;
                   for (const auto& [key, histogram] : counts.steps()) {
                     add_histogram(samples, {{"definition", key.first}, {"step", key.second}}, histogram);
                   }
                   return samples;
                 });
  metrics.family("cairn_wait_duration_seconds", "How long steps waited, by what they waited for.", "histogram",
                 [&counts] {
                   std::vector<MetricSample> samples;
                   const auto waits = counts.waits();
                   for (std::size_t kind = 0; kind < waits.size(); ++kind) {
                     add_histogram(samples, {{"kind", to_string(static_cast<WaitKind>(kind))}}, waits[kind]);
                   }
                   return samples;
                 });
  metrics.family("cairn_timer_lateness_seconds", "How late timers fired.", "histogram", [&counts] {
    std::vector<MetricSample> samples;
    add_histogram(samples, {}, counts.timers_late());
    return samples;
  });
  metrics.family("cairn_run_retries_total", "Attempts of runs after the first one, by type.", "counter",
                 [&counts] { return by_name("type", counts.retries()); });
}

void add_retention_metrics(Metrics& metrics, const RetentionCounts& removed) {
  metrics.family("cairn_retention_removed_total",
                 "Rows that retention has removed, and stale work that it has ended, by kind.", "counter",
                 [&removed] { return by_name("kind", removed.all()); });
}

}  // namespace cairn::api
