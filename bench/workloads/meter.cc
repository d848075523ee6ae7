#include "workloads/meter.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "workloads/disk_counts.h"

namespace cairn::bench {

namespace {

double own_cpu_s() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

ProcessCost process_cost(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  ProcessCost cost;
  // Ticks of 10 ms are too coarse for an idle process: the scheduler counts nanoseconds per thread.
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator(folder + "/task", gone)) {
    std::ifstream counts(thread.path() / "schedstat");
    double nanoseconds = 0;
    if (counts >> nanoseconds) cost.cpu_s += nanoseconds / 1e9;
  }
  std::string line;
  constexpr std::string_view written = "write_bytes: ";
  std::ifstream disk(folder + "/io");
  while (std::getline(disk, line)) {
    if (line.starts_with(written)) cost.written_bytes = std::stoull(line.substr(written.size()));
  }
  std::ifstream status(folder + "/status");
  while (std::getline(status, line)) {
    const bool peak = line.starts_with("VmHWM:");
    if (!peak && !line.starts_with("VmRSS:")) continue;
    const std::uint64_t bytes = std::stoull(line.substr(6)) * 1024;
    (peak ? cost.memory_peak_bytes : cost.memory_bytes) = bytes;
  }
  return cost;
}

void Cost::add(const Cost& other) {
  wall_s += other.wall_s;
  cpu_s += other.cpu_s;
  for (const auto& theirs : other.cpu_parts) {
    auto part =
        std::find_if(cpu_parts.begin(), cpu_parts.end(), [&](const auto& own) { return own.first == theirs.first; });
    if (part == cpu_parts.end()) part = cpu_parts.insert(part, {theirs.first, 0.0});
    part->second += theirs.second;
  }
  memory_peak_bytes = std::max(memory_peak_bytes, other.memory_peak_bytes);
  written_bytes += other.written_bytes;
  log_bytes += other.log_bytes;
  syncs += other.syncs;
  page_images += other.page_images;
}

Meter::Meter()
    : cpu_s_(own_cpu_s()),
      log_bytes_(count_disk().log_bytes),
      database_bytes_(count_disk().database_bytes),
      syncs_(count_disk().syncs),
      database_(database_cost()) {
  // "5" resets the kernel's peak of memory.
  std::ofstream("/proc/self/clear_refs") << "5";
  // Last: querying every process of a server takes 5 ms, which must not be measured.
  began_ = std::chrono::steady_clock::now();
}

Cost Meter::read() const {
  Cost cost;
  cost.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  cost.cpu_s = own_cpu_s() - cpu_s_;
  cost.memory_peak_bytes = process_cost(::getpid()).memory_peak_bytes;
  cost.log_bytes = count_disk().log_bytes - log_bytes_;
  cost.written_bytes = cost.log_bytes + count_disk().database_bytes - database_bytes_;
  cost.syncs = count_disk().syncs - syncs_;
  const DatabaseCost database = database_cost();
  if (database.log_bytes != 0) {
    const double of_database = database.cpu_s - database_.cpu_s;
    cost.cpu_parts = {{"process", cost.cpu_s}, {"database", of_database}};
    cost.cpu_s += of_database;
    cost.log_bytes += database.log_bytes - database_.log_bytes;
    cost.syncs += database.syncs - database_.syncs;
    cost.page_images = database.page_images - database_.page_images;
    // The count of an ended process is lost.
    if (database.written_bytes > database_.written_bytes)
      cost.written_bytes += database.written_bytes - database_.written_bytes;
  }
  return cost;
}

void Latencies::sort() { std::sort(values_.begin(), values_.end()); }

double Latencies::at(double share) const {
  if (values_.empty()) return 0;
  const auto index = static_cast<std::size_t>(std::lround(share * static_cast<double>(values_.size() - 1)));
  return values_[index];
}

}  // namespace cairn::bench
