// A layer between SQLite and its files. It checks every read: pages of the file (page_file.h) and of the write-ahead
// log. SQLite writes a log page by page, with two calls each. This layer collects them and writes them together when
// the log is synced, read or measured. It can also defer the sync at the end of a commit to another thread, so the next
// transaction proceeds while the disk writes this one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

struct sqlite3;

namespace cairn::sqlite {

// The VFS name of every connection, on top of SQLite's current default file system. A connection that writes needs
// `synchronous = FULL`, which syncs a commit before another connection can read it.
const char* log_layer();

// The length that the log must have, according to what this connection has written.
std::int64_t log_end(sqlite3* connection);

// The maximum size of one write: SQLite's own layer writes less than 128 KiB at a time.
inline constexpr int log_part_bytes = 1 << 16;

// The maximum number of unsynced commits. The next commit syncs all of them.
inline constexpr std::uint64_t unsynced_max = 8;

struct LogFile;

// Counts the commits written to a log and those on the disk. A deferred commit can be read at once. No caller may learn
// of it, or of anything read since, before `sync` has returned.
class LogProgress {
 public:
  // During its lifetime, one commit of the connection omits its sync. Only the writer thread uses it. Syncs that order
  // writes to the disk (the header of a new log, a checkpoint) are never omitted.
  class Deferral {
   public:
    Deferral(LogProgress& progress, sqlite3* connection);
    ~Deferral();
    Deferral(const Deferral&) = delete;
    Deferral& operator=(const Deferral&) = delete;

   private:
    LogProgress& progress_;
  };

  // Syncs what is not synced yet, or waits for the thread that is syncing. Callable from any thread. Answers SQLite's
  // code. After a failed sync it answers that failure forever, because the next sync might succeed without having
  // written anything.
  int sync();

 private:
  friend struct LogFile;
  // Records the end of a sync that covered `written` commits. The caller holds the lock. Answers the code that every
  // caller gets from now on.
  int note(std::uint64_t written, int code);

  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> synced_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool syncing_ = false;
  int failed_ = 0;           // SQLite's code
  bool deferring_ = false;   // used by the writer thread only
  LogFile* file_ = nullptr;  // from the first deferral until it is closed
};

}  // namespace cairn::sqlite
