// What SQLite asks of the disk, counted where it asks: a shim over the system's own file functions. The counts stand in
// memory shared with processes started later, so that a server in a process of its own is counted too.
#pragma once

#include <atomic>
#include <cstdint>

namespace cairn::bench {

struct DiskCounts {
  std::atomic<std::uint64_t> syncs{0};
  std::atomic<std::uint64_t> log_bytes{0};       // written to write-ahead logs
  std::atomic<std::uint64_t> database_bytes{0};  // written to databases, by checkpoints
};

// Every SQLite file opened from now on is counted. Called before the first one is opened; a second call changes
// nothing.
DiskCounts& count_disk();

// In a server: the same for the process that started it, if that one counts. Else nothing.
void count_disk_for_parent();

}  // namespace cairn::bench
