// A layer between SQLite and its files. Whatever is read from them is checked: pages of the file (page_file.h) and of
// the write-ahead log. SQLite writes a log page by page, with two calls for each; here they are gathered and go out
// together when the log is synced, read or measured. And the sync at the end of a commit may be left to somebody else,
// so that the next transaction is worked on while the disk has this one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

struct sqlite3;

namespace cairn::sqlite {

// The name under which every connection is opened: over SQLite's default file system as it is now. A connection that
// writes needs `synchronous = FULL`: it syncs a commit before anybody else may read it.
const char* log_layer();

// How long the log must be, by what this connection has written to it.
std::int64_t log_end(sqlite3* connection);

// At most this goes into one call: SQLite's own layer writes less than 128 KiB at a time.
inline constexpr int log_part_bytes = 1 << 16;

// At most so many commits are without their sync at any time; the next one makes up for them.
inline constexpr std::uint64_t unsynced_max = 8;

struct LogFile;

// How many commits a log has been given and how many of them are on the disk. A commit that was deferred can be read
// at once; nobody may be told of it, nor of what was read since, before `sync` has returned.
class LogProgress {
 public:
  // While it lives, one commit of the connection goes without its sync. By the thread that writes. Syncs that keep the
  // order of what reaches the disk (a new log's header, a checkpoint) are never left out.
  class Deferral {
   public:
    Deferral(LogProgress& progress, sqlite3* connection);
    ~Deferral();
    Deferral(const Deferral&) = delete;
    Deferral& operator=(const Deferral&) = delete;

   private:
    LogProgress& progress_;
  };

  // Syncs what is not synced yet, or waits for whoever does. From any thread. Gives SQLite's code, and after a sync
  // that failed the same for ever: the next one might succeed without having written anything.
  int sync();

 private:
  friend struct LogFile;
  // A sync of what was written by then has ended. Under the lock; gives what everybody is told from now on.
  int note(std::uint64_t written, int code);

  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> synced_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool syncing_ = false;
  int failed_ = 0;           // SQLite's code
  bool deferring_ = false;   // the thread that writes only
  LogFile* file_ = nullptr;  // from the first deferral until it is closed
};

}  // namespace cairn::sqlite
