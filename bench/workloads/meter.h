// The cost of a piece of work: time, CPU, memory, disk.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "workloads/database_cost.h"

namespace cairn::bench {

struct ProcessCost {
  double cpu_s = 0;  // user and system, of running threads
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t written_bytes = 0;  // bytes it made the disk write, including checkpoints
};
// For a running process; zeros for others.
ProcessCost process_cost(pid_t process);

struct Cost {
  double wall_s = 0;
  double cpu_s = 0;                                       // of all processes involved
  std::vector<std::pair<std::string, double>> cpu_parts;  // the same per process; empty if there is only one
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t written_bytes = 0;  // written by SQLite, or by the processes of a local PostgreSQL
  std::uint64_t log_bytes = 0;      // the part written to the write-ahead log
  std::uint64_t syncs = 0;
  std::uint64_t page_images = 0;  // of PostgreSQL (DatabaseCost)

  void add(const Cost& other);  // adds another piece of work; keeps the greater peak
};

class Meter {
 public:
  Meter();  // starts; the peak of memory is measured from here
  Cost read() const;

 private:
  double cpu_s_;
  std::uint64_t log_bytes_;
  std::uint64_t database_bytes_;
  std::uint64_t syncs_;
  DatabaseCost database_;
  std::chrono::steady_clock::time_point began_;
};

// The durations of many operations, in milliseconds.
class Latencies {
 public:
  void add(double ms) { values_.push_back(ms); }
  void add(const Latencies& others) { values_.insert(values_.end(), others.values_.begin(), others.values_.end()); }
  std::size_t count() const { return values_.size(); }
  void sort();
  double at(double share) const;  // 0.5: the median; call `sort` before
  double max() const { return at(1); }

 private:
  std::vector<double> values_;
};

}  // namespace cairn::bench
