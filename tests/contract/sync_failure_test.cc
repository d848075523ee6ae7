// A disk that fails to sync. Runs in a child process, on a SQLite file system that fails on demand.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "sample.h"
#include "store/open.h"
#include "store/sqlite/sqlite_store.h"

namespace cairn {
namespace {

bool syncs_fail = false;
bool file_syncs_fail = false;  // of the store's file, not of its log
int failing_read = 0;          // which of the reads to come fails; 0: none

// A disk that takes its time: while it is closed, syncs wait.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool closed = false;
  int waiting = 0;

  void pass() {
    std::unique_lock lock(mutex);
    ++waiting;
    changed.notify_all();
    changed.wait(lock, [this] { return !closed; });
    --waiting;
  }
  void set_closed(bool to) {
    const std::lock_guard lock(mutex);
    closed = to;
    changed.notify_all();
  }
  void await_sync() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return waiting > 0; });
  }
};
Gate gate;

// A file of the system's own, followed in memory by that file.
struct File {
  sqlite3_file base;
  bool is_store;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real(); }
sqlite3_vfs* system_vfs = nullptr;

int close_file(sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); }
int read_file(sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
  if (failing_read > 0 && --failing_read == 0) return SQLITE_IOERR_READ;
  return real(f)->pMethods->xRead(real(f), to, n, at);
}
int write_file(sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
  return real(f)->pMethods->xWrite(real(f), from, n, at);
}
int truncate_file(sqlite3_file* f, sqlite3_int64 n) { return real(f)->pMethods->xTruncate(real(f), n); }
int sync_file(sqlite3_file* f, int flags) {
  gate.pass();
  const bool fails = syncs_fail || (file_syncs_fail && reinterpret_cast<File*>(f)->is_store);
  return fails ? SQLITE_IOERR_FSYNC : real(f)->pMethods->xSync(real(f), flags);
}
int file_size(sqlite3_file* f, sqlite3_int64* n) { return real(f)->pMethods->xFileSize(real(f), n); }
int lock_file(sqlite3_file* f, int kind) { return real(f)->pMethods->xLock(real(f), kind); }
int unlock_file(sqlite3_file* f, int kind) { return real(f)->pMethods->xUnlock(real(f), kind); }
int check_lock(sqlite3_file* f, int* held) { return real(f)->pMethods->xCheckReservedLock(real(f), held); }
int control(sqlite3_file* f, int what, void* arg) { return real(f)->pMethods->xFileControl(real(f), what, arg); }
int sector(sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); }
int traits(sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); }
int shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** at) {
  return real(f)->pMethods->xShmMap(real(f), page, size, extend, at);
}
int shm_lock(sqlite3_file* f, int offset, int n, int flags) {
  return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
}
void shm_barrier(sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); }
int shm_unmap(sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); }
const sqlite3_io_methods methods{2,         close_file,  read_file,  write_file, truncate_file, sync_file, file_size,
                                 lock_file, unlock_file, check_lock, control,    sector,        traits,    shm_map,
                                 shm_lock,  shm_barrier, shm_unmap,  nullptr,    nullptr};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  const int code = system_vfs->xOpen(system_vfs, name, real(file), flags, out);
  file->pMethods = real(file)->pMethods != nullptr ? &methods : nullptr;
  reinterpret_cast<File*>(file)->is_store = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  return code;
}

void install_failing_vfs() {
  static sqlite3_vfs vfs;
  system_vfs = sqlite3_vfs_find(nullptr);
  vfs = *system_vfs;
  vfs.zName = "failing";
  vfs.szOsFile = static_cast<int>(sizeof(File)) + system_vfs->szOsFile;
  vfs.xOpen = open_file;
  sqlite3_vfs_register(&vfs, 1);
}

CommitOutcome::Kind begin(Store& store, const std::string& id) {
  Unit unit;
  unit.advances = {sample::begin(id)};
  const auto outcomes = store.commit(std::span(&unit, 1));
  return outcomes ? outcomes->front().kind : CommitOutcome::Kind::failed;
}

// `fail` breaks the disk and continues to write.
void stops_the_process(void (*fail)(Store&)) {
  const std::string folder = testing::TempDir() + "cairn_sync_" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string url = "sqlite:" + folder + "/store.db";
  ManualClock clock{sample::start_of_time};
  int said[2];
  ASSERT_EQ(::pipe(said), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(said[1], STDERR_FILENO);
    install_failing_vfs();
    auto store = open_store(url, clock);
    if (!store) ::_exit(10);
    if (begin(**store, "kept") != CommitOutcome::Kind::done) ::_exit(11);
    fail(**store);
    ::_exit(12);  // it went on after a failed sync
  }
  ::close(said[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n = 0; (n = ::read(said[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  ::close(said[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), SqliteStore::sync_failure_exit) << text;
  EXPECT_NE(text.find("store.sync_failed"), std::string::npos) << text;
  EXPECT_NE(text.find("cairn stops"), std::string::npos) << text;

  auto store = open_store(url, clock);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_TRUE((*store)->find_instance({"kept"})->has_value());
  EXPECT_EQ(begin(**store, "next"), CommitOutcome::Kind::done);
  store->reset();
  std::filesystem::remove_all(folder);
}

TEST(SyncFailure, StopsTheProcessAndLosesNothingThatWasAcknowledged) {
  stops_the_process([](Store& store) {
    syncs_fail = true;
    begin(store, "lost");
  });
}

// A commit puts the log into the file when the log is long, and SQLite does not say when that fails.
TEST(SyncFailure, OfTheFileStopsTheProcessToo) {
  stops_the_process([](Store& store) {
    file_syncs_fail = true;
    for (int i = 0; i < 60; ++i) {
      Unit unit;
      unit.advances = {sample::begin("large-" + std::to_string(i))};
      // Each another text: equal ones are stored once.
      unit.advances[0].after.state = Json::object({{"text", std::string(500'000, 'x') + std::to_string(i)}});
      static_cast<void>(store.commit(std::span(&unit, 1)));
    }
  });
}

// A dispatcher that catches up writes all the time. While the disk has its commits, instances are written beside it.
TEST(SlowSync, OfADispatcherLeavesTheWriterToInstances) {
  const std::string folder = testing::TempDir() + "cairn_slow_" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  ManualClock clock{sample::start_of_time};
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // when the writer waits for the disk
    install_failing_vfs();
    auto store = open_store("sqlite:" + folder + "/store.db", clock);
    if (!store) ::_exit(10);
    Unit unit;
    unit.advances = {sample::begin("said")};
    unit.advances[0].outbox = {sample::event("e1", "s")};
    if (!(*store)->commit(std::span(&unit, 1))) ::_exit(11);
    const std::vector<SinkFilter> sinks{{"sink"}};
    std::vector<OutboxRow> claimed;
    const std::vector<std::function<bool()>> calls = {
        [&] { return (*store)->hold_lock("outbox/sink", "me", Duration::of_seconds(15)).has_value(); },
        [&] {
          auto rows = (*store)->claim_outbox(sinks, {"sink", 10, Duration::of_seconds(20)});
          if (rows) claimed = std::move(*rows);
          return claimed.size() == 1;
        },
        [&] {
          const SinkResult taken{claimed[0].sequence, SinkResult::Kind::taken, 1, clock.now()};
          const auto published = (*store)->record_sink_results("sink", std::span(&taken, 1));
          return published && *published == 1;
        },
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
      bool done = false;
      gate.set_closed(true);
      std::thread dispatcher([&] { done = calls[i](); });
      gate.await_sync();
      Unit next;
      next.advances = {sample::begin("beside-" + std::to_string(i))};
      const auto outcomes = (*store)->commit_unsynced(std::span(&next, 1), [] { return std::span<const Unit>(); });
      if (!outcomes || outcomes->front().kind != CommitOutcome::Kind::done) ::_exit(12);
      gate.set_closed(false);
      dispatcher.join();
      (*store)->sync();
      if (!done) ::_exit(13);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "the writer waited for the dispatcher's sync";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::filesystem::remove_all(folder);
}

// Whatever cannot be read once, a type that is paused stays paused.
TEST(ReadFailure, OfRunTypesDoesNotLiftTheirLimits) {
  const std::string folder = testing::TempDir() + "cairn_read_" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string url = "sqlite:" + folder + "/store.db";
  ManualClock clock{sample::start_of_time};
  const pid_t child = ::fork();
  if (child == 0) {
    install_failing_vfs();
    const LeaseRequest request{"w", {}, {"default.echo"}, 10, Duration::of_seconds(30)};
    {
      auto store = open_store(url, clock);
      RunTypeRow paused;
      paused.type = "default.echo";
      paused.paused = true;
      if (!store || !(*store)->put_run_type(paused) || !(*store)->submit_run(sample::run("r"))) ::_exit(10);
    }
    bool failed = false;
    for (int n = 1; n <= 30; ++n) {
      auto store = open_store(url, clock);
      if (!store) ::_exit(11);
      failing_read = n;
      failed |= !(*store)->lease_runs(request);
      failing_read = 0;
      const auto leased = (*store)->lease_runs(request);
      if (!leased || !leased->empty()) ::_exit(12);
    }
    ::_exit(failed ? 0 : 13);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cairn
