#include "api/telemetry/metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/incidents.h"
#include "base/limit_refusals.h"
#include "base/version.h"

namespace cairn::api {
namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

// The value of a label, escaped.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double open_descriptors() {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  double count = -3;  // minus its own descriptor and the entries . and ..
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Metrics::ReadAll single(Metrics::Read read) {
  return [read = std::move(read)] {
    std::vector<MetricSample> samples(1);
    samples.front().value = read();
    return samples;
  };
}

void write_sample(std::ostream& out, std::string_view name, const MetricSample& sample) {
  out << name << sample.suffix;
  char before = '{';
  for (const auto& [key, value] : sample.labels) {
    out << before << key << "=\"" << label(value) << '"';
    before = ',';
  }
  if (!sample.labels.empty()) out << '}';
  out << ' ' << number(sample.value) << '\n';
}

}  // namespace

void Metrics::count_request(std::string_view operation, int status, std::chrono::nanoseconds took) {
  const double seconds = static_cast<double>(took.count()) / 1e9;
  std::size_t bucket = 0;
  while (bucket < bounds.size() && seconds > bounds[bucket]) ++bucket;
  const std::scoped_lock lock(mutex_);
  ++requests_[{std::string(operation), status}];
  Histogram& histogram = durations_[std::string(operation)];
  ++histogram.buckets[bucket];
  histogram.sum += seconds;
  ++histogram.count;
}

void Metrics::count_refusal(std::string_view reason) {
  const std::scoped_lock lock(mutex_);
  ++refusals_[std::string(reason)];
}

void Metrics::gauge(std::string name, std::string help, Read read) {
  family(std::move(name), std::move(help), "gauge", single(std::move(read)));
}

void Metrics::counter(std::string name, std::string help, Read read) {
  family(std::move(name), std::move(help), "counter", single(std::move(read)));
}

void Metrics::family(std::string name, std::string help, const char* type, ReadAll read) {
  const std::scoped_lock lock(mutex_);
  values_.push_back({std::move(name), std::move(help), type, std::move(read)});
}

std::string Metrics::text() const {
  std::ostringstream out;
  const auto head = [&out](std::string_view name, std::string_view help, std::string_view type) {
    out << "# HELP " << name << " " << help << "\n# TYPE " << name << " " << type << "\n";
  };
  head("cairn_build_info", "The version of this server.", "gauge");
  out << "cairn_build_info{version=\"" << version_text << "\"} 1\n";
  std::vector<Value> values;
  {
    const std::scoped_lock lock(mutex_);
    head("cairn_http_requests_total", "Answered requests.", "counter");
    for (const auto& [key, count] : requests_) {
      out << "cairn_http_requests_total{operation=\"" << key.first << "\",status=\"" << key.second << "\"} " << count
          << "\n";
    }
    head("cairn_http_refusals_total", "Requests refused before they reached their operation.", "counter");
    for (const auto& [reason, count] : refusals_) {
      out << "cairn_http_refusals_total{reason=\"" << reason << "\"} " << count << "\n";
    }
    head("cairn_http_request_duration_seconds", "From the complete request to its answer, including long polls.",
         "histogram");
    for (const auto& [operation, histogram] : durations_) {
      std::uint64_t below = 0;
      for (std::size_t i = 0; i <= bounds.size(); ++i) {
        below += histogram.buckets[i];
        out << "cairn_http_request_duration_seconds_bucket{operation=\"" << operation << "\",le=\""
            << (i < bounds.size() ? number(bounds[i]) : "+Inf") << "\"} " << below << "\n";
      }
      out << "cairn_http_request_duration_seconds_sum{operation=\"" << operation << "\"} " << number(histogram.sum)
          << "\ncairn_http_request_duration_seconds_count{operation=\"" << operation << "\"} " << histogram.count
          << "\n";
    }
    values = values_;
  }
  head("cairn_limit_refusals_total", "Requests refused by a limit, by the limit's name.", "counter");
  for (const auto& [limit, count] : limit_refusals()) {
    out << "cairn_limit_refusals_total{limit=\"" << limit << "\"} " << count << "\n";
  }
  head("cairn_incidents_total", "What an operator must know, by kind, definition, step and type of run.", "counter");
  for (const auto& [incident, count] : incident_counts()) {
    out << "cairn_incidents_total{kind=\"" << to_string(incident.kind) << "\",definition=\""
        << label(incident.definition) << "\",step=\"" << label(incident.step) << "\",type=\"" << label(incident.type)
        << "\"} " << count << "\n";
  }
  // Read outside the lock: a value may query the store.
  for (const Value& value : values) {
    head(value.name, value.help, value.type);
    for (const MetricSample& sample : value.read()) write_sample(out, value.name, sample);
  }
  return out.str();
}

void add_process_metrics(Metrics& metrics) {
  metrics.gauge("process_resident_memory_bytes", "Resident memory.", resident_bytes);
  metrics.gauge("process_open_fds", "Open file descriptors.", open_descriptors);
  metrics.counter("process_cpu_seconds_total", "CPU time, user and system.", processor_seconds);
  const double started = static_cast<double>(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  metrics.gauge("process_start_time_seconds", "Start time of the process, in Unix time.",
                [started] { return started; });
}

}  // namespace cairn::api
