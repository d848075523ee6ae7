// The server's metrics in the Prometheus format. Labels are names and codes from bounded sets, never ids.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cairn::api {

// One sample of a metric with labels.
struct MetricSample {
  std::vector<std::pair<std::string_view, std::string>> labels;
  double value = 0;
  std::string_view suffix = {};  // of the name: _bucket, _sum or _count of a histogram
};

class Metrics {
 public:
  // Counts an answered request. `operation` is the name of the route, or "none" without a route.
  void count_request(std::string_view operation, int status, std::chrono::nanoseconds took);
  void count_refusal(std::string_view reason);  // unauthenticated, forbidden, overloaded

  // A value that is computed when it is read.
  using Read = std::function<double()>;
  void gauge(std::string name, std::string help, Read read);
  void counter(std::string name, std::string help, Read read);
  // The samples of a metric with labels, or of a histogram. `type`: gauge, counter or histogram.
  using ReadAll = std::function<std::vector<MetricSample>()>;
  void family(std::string name, std::string help, const char* type, ReadAll read);

  // Text format 0.0.4.
  std::string text() const;

 private:
  static constexpr std::array<double, 12> bounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30};
  struct Histogram {
    std::array<std::uint64_t, bounds.size() + 1> buckets{};
    double sum = 0;
    std::uint64_t count = 0;
  };
  struct Value {
    std::string name;
    std::string help;
    const char* type;
    ReadAll read;
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::map<std::string, Histogram> durations_;
  std::map<std::string, std::uint64_t> refusals_;
  std::vector<Value> values_;
};

// Memory, CPU time, file descriptors and start time of this process, under their usual names.
void add_process_metrics(Metrics& metrics);

}  // namespace cairn::api
