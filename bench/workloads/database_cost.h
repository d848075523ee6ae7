// What a PostgreSQL server spends on a workload: the write-ahead log and syncs it counts itself, and, when it runs on
// this machine, the processor and the writes of its processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace cairn::bench {

struct DatabaseCost {
  double cpu_s = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t syncs = 0;  // of the log; the server tells them up to a second late
  std::uint64_t written_bytes = 0;
  std::uint64_t page_images = 0;  // whole pages in the log: their first change after a checkpoint; late as above
};

// Every Meter made from now on counts the server behind this URL too. Anything that cannot be known (a server
// elsewhere, too few rights) stays zero.
void count_database(const std::string& url);

// In a process that was forked off: what has been counted so far was the parent's, whose connection must not be used.
void leave_database_to_parent();

// Since the server began; zeros when none is counted.
DatabaseCost database_cost();

}  // namespace cairn::bench
