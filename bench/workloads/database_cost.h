// The cost of a workload on a PostgreSQL server: the write-ahead log and syncs that the server counts, and, if it runs
// on this machine, the CPU time and the writes of its processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace cairn::bench {

struct DatabaseCost {
  double cpu_s = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t syncs = 0;  // of the log; the server reports them up to one second late
  std::uint64_t written_bytes = 0;
  std::uint64_t page_images = 0;  // full pages in the log: their first change after a checkpoint; also late
};

// From now on every Meter also counts the server of this URL. Unknown values (a remote server, missing rights) stay
// zero.
void count_database(const std::string& url);

// Call this in a forked process: the counts so far belong to the parent, whose connection must not be used.
void leave_database_to_parent();

// Since the server started; zeros if none is counted.
DatabaseCost database_cost();

}  // namespace cairn::bench
