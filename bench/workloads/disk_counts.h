// Counts SQLite's disk operations with a shim over the system's file functions. The counters are in memory shared with
// processes started later, so that a server in its own process is counted too.
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn::bench {

struct DiskCounts {
  std::atomic<std::uint64_t> syncs{0};
  std::atomic<std::uint64_t> log_bytes{0};       // written to write-ahead logs
  std::atomic<std::uint64_t> database_bytes{0};  // written to databases by checkpoints
};

// From now on every opened SQLite file is counted. Call this before the first one is opened; a second call changes
// nothing.
DiskCounts& count_disk();

// In a server: counts for the process that started it, if that process counts. Otherwise does nothing.
void count_disk_for_parent();

}  // namespace cairn::bench
