#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>

#include "base/log.h"
#include "base/process_end.h"
#include "store/projection.h"
#include "store/sqlite/log_rescue.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/page_cache.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/writer_settings.h"
#include "store/unsynced_read.h"

namespace cairn {

using sqlite::Connection;
using sqlite::Query;
using sqlite::Sql;

namespace {

constexpr std::size_t readers_max = 8;
// A clock that is behind the store by more was wrong when the store was written, and is right now.
constexpr Duration clock_gap_max = Duration::of_seconds(24 * 3600);
// Differences below this are not reported.
constexpr Duration clock_gap_usual = Duration::of_seconds(1);
// A store that was closed sooner after its last row needs no other record of the time.
constexpr Duration latest_time_pause = Duration::of_seconds(60);

// Before 3.51.3 two connections that write or checkpoint at the same time could corrupt the file; 3.52.0 was withdrawn.
std::optional<Error> library_fault() {
  const int version = sqlite3_libversion_number();
  if (version >= 3051003 && version != 3052000) return std::nullopt;
  return Error{ErrorCode::unsupported, std::string("SQLite ") + sqlite3_libversion() +
                                           " is not safe for this store; 3.51.3 or newer is needed (not 3.52.0)"};
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, Clock& clock, Mode mode,
                                                       bool run_events) {
  if (auto fault = library_fault()) return *fault;
  sqlite::install_page_cache();
  if (path.empty()) return Error{ErrorCode::invalid, "sqlite: needs the path of a file"};
  std::unique_ptr<SqliteStore> store(new SqliteStore(path, clock, mode, run_events));
  if (mode == Mode::own) {
    CAIRN_TRY(auto owner, sqlite::OwnerLock::take(path));
    store->owner_ = std::move(owner);
    CAIRN_TRY_VOID(sqlite::rescue_log(path));
    if (auto opened = store->open_as_owner(); !opened) return with_context(opened.error(), path);
  } else {
    if (!std::filesystem::exists(path)) return Error{ErrorCode::not_found, "there is no store at " + path};
    CAIRN_TRY(auto connection, Connection::open(path, Connection::Mode::read));
    connection->expect_foreign_pages(store->foreign_);
    const auto schema = sqlite::read_schema(*connection);
    if (!schema) return with_context(schema.error(), path);
    store->foreign_ = *schema > 0 && sqlite::has_foreign_changes(*connection);
    if (connection->error()) return with_context(*connection->error(), path);
    store->readers_ = 1;
    store->idle_readers_.push_back(std::move(connection));
  }
  return store;
}

Result<void> SqliteStore::open_as_owner() {
  const auto connect = [this]() -> Result<void> {
    writer_.reset();
    foreign_ = true;  // until it is checked
    CAIRN_TRY(writer_, Connection::open(path_, Connection::Mode::write));
    writer_->sync_failed = [this](const Error& error) { end_after_failed_sync(error); };
    writer_->expect_foreign_pages(foreign_);
    return {};
  };
  CAIRN_TRY_VOID(connect());
  // Reject a foreign or newer file before changing anything.
  auto schema = sqlite::read_schema(*writer_);
  if (!schema && schema.error().code != ErrorCode::corrupt) return schema.error();
  if (writer_->has_checksums() == true) {
    CAIRN_TRY(const PagesAre pages, check_pages());
    if (pages == PagesAre::mended) CAIRN_TRY_VOID(connect());
    schema = sqlite::read_schema(*writer_);
  }
  if (!schema) return schema.error();
  Connection& db = *writer_;
  db.script(sqlite::writer_settings);
  if (db.error()) return *db.error();
  {
    Query query = db.query(Sql::journal_mode);
    if (!query.next() || query.text(0) != "wal") {
      return Error{ErrorCode::unavailable, "this file system cannot hold a write-ahead log"};
    }
  }
  CAIRN_TRY_VOID(sqlite::migrate(db));
  sqlite::forget_foreign_changes(db);
  maybe_kept_ = db.query(Sql::has_kept).next();
  maybe_pieces_ = db.query(Sql::any_piece).next();
  if (db.error()) return *db.error();
  continue_clock();
  if (db.error()) return *db.error();
  foreign_ = false;
  owner_->remember_open();
  db.close_with_log_in_file();
  db.trust_log();
  opened_ = true;
  db.changed_by_others();  // count from here on
  db.refuse = [this] { return refuse_to_write(); };
  return {};
}

// Timers and leases are times. If the system clock was set back while no process had the store, they would stand still
// until it reaches them again.
void SqliteStore::continue_clock() {
  const Timestamp own = now();
  const Timestamp bound = after(own, clock_gap_max);
  std::optional<Timestamp> latest, latest_of_all;
  {
    Query times = writer_->query(Sql::latest_times, bound);
    if (times.next()) {
      latest = times.time_or_nothing(0);
      latest_of_all = times.time_or_nothing(1);
    }
  }
  if (latest_of_all && *latest_of_all > bound) {
    log_warning("clock.store_is_ahead", {{"store", format_timestamp(*latest_of_all)},
                                         {"clock", format_timestamp(own)},
                                         {"advice",
                                          "the clock was wrong when this was written, or is wrong now. The clock's "
                                          "time is used: timers and leases of the store wait for their time"}});
  }
  latest_time_ = latest.value_or(Timestamp());
  if (latest_time_ <= own) return;
  clock_.continue_from(latest_time_);
  if (now() < after(own, clock_gap_usual)) return;
  log_warning("clock.set_back", {{"behind_ms", between(own, latest_time_).ms_up()},
                                 {"advice", "the system clock is behind the store; time continues from the store's"}});
}

void SqliteStore::keep_latest_time() {
  const Timestamp at = now();
  if (at < after(latest_time_, latest_time_pause)) return;
  // Not a Transaction, which would write the audit rows that the caller still owes.
  writer_->run(Sql::keep_latest_time, at);
  if (writer_->error()) log_info("store.time_not_kept", {{"message", writer_->error()->message}});
  writer_->clear_error();
}

SqliteStore::~SqliteStore() {
  idle_readers_.clear();
  if (opened_ && !file_fault()) {
    writer_->clear_error();
    keep_latest_time();
    // Closing removes the log. If the process dies right after that, the note must not claim that a log is missing.
    writer_->clear_error();
    writer_->script("PRAGMA wal_checkpoint(TRUNCATE)");
    if (!writer_->error() && sqlite::log_end(writer_->handle()) == 0) owner_->remember_closed();
  }
  writer_.reset();
  if (opened_) owner_->remember_closed();
}

std::optional<Error> SqliteStore::refusal() const {
  if (mode_ == Mode::read_only) return Error{ErrorCode::not_allowed, path_ + " was opened read-only"};
  return std::nullopt;
}

// After a failed sync it is unknown which pages the kernel still has. Continuing would acknowledge writes on top of
// lost ones, and a retry may succeed without having written anything. So the process ends here without unwinding. It
// sends no further answer, and the next start recovers from what is on the disk.
Error SqliteStore::failed(Error error) {
  const int number = writer_->error_number();
  if (number == SQLITE_IOERR_FSYNC || number == SQLITE_IOERR_DIR_FSYNC) end_after_failed_sync(error);
  if (error.code == ErrorCode::unavailable) write_failed_ = true;
  return error;
}

void SqliteStore::end_after_failed_sync(const Error& error) const {
  log_error("store.sync_failed", error,
            {{"path", path_},
             {"advice",
              "the disk failed to keep what was written; cairn stops. Check the disk, then start again: "
              "everything that was acknowledged before is recovered"}});
  end_process(sync_failure_exit);
}

void SqliteStore::sync() {
  check_store_call();
  if (!writer_) return;
  const int code = writer_->log().sync();
  if (code != SQLITE_OK) end_after_failed_sync({ErrorCode::unavailable, std::string("sync: ") + sqlite3_errstr(code)});
}

void SqliteStore::release_caches() {
  {
    const std::lock_guard lock(writer_mutex_);
    if (!writer_ || file_fault()) return;
    // A checkpoint now shortens the next start, which reads the log again, and makes room for the next load.
    writer_->clear_error();
    writer_->script("PRAGMA wal_checkpoint(PASSIVE)");
    if (writer_->error()) log_error("store.checkpoint_failed", failed(*writer_->error()), {{"path", path_}});
    writer_->clear_error();
    writer_->forget_pages();
  }
  const std::lock_guard lock(readers_mutex_);
  for (const auto& connection : idle_readers_) connection->forget_pages();
}

Timestamp SqliteStore::now() { return whole_ms(clock_.now()); }

void SqliteStore::watch(WakeupListener listener) { listener_ = std::move(listener); }

void SqliteStore::tell(const Wakeup& wakeup) const {
  if (listener_ && (wakeup.messages || wakeup.runs || wakeup.outbox || wakeup.due || !wakeup.ended.empty())) {
    listener_(wakeup);
  }
}

Result<int> SqliteStore::schema_version() {
  Reader db = reader();
  return sqlite::read_schema(*db);
}

SqliteStore::Reader SqliteStore::reader() {
  check_store_call();
  std::unique_lock lock(readers_mutex_);
  reader_free_.wait(lock, [this] { return !idle_readers_.empty() || readers_ < readers_max; });
  if (!idle_readers_.empty()) {
    auto connection = std::move(idle_readers_.back());
    idle_readers_.pop_back();
    connection->clear_error();
    return Reader(*this, std::move(connection));
  }
  ++readers_;
  lock.unlock();
  auto opened = Connection::open(path_, Connection::Mode::read);
  if (opened) {
    // Before the first read: the settings read a page.
    (*opened)->expect_foreign_pages(foreign_);
    (*opened)->script("PRAGMA query_only = ON; PRAGMA cache_size = -8192;");
    if (mode_ == Mode::own) (*opened)->trust_log();
    return Reader(*this, std::move(*opened));
  }
  auto broken = Connection::open(":memory:", Connection::Mode::write);
  CAIRN_ASSERT(broken.has_value());
  (*broken)->fail(opened.error());
  return Reader(*this, std::move(*broken));
}

SqliteStore::Reader::~Reader() {
  if (!connection_) return;
  // The rows may belong to a commit that is not on the disk yet.
  if (!UnsyncedRead::here()) store_.sync();
  // A failed connection is closed; the next reader opens a new one.
  const bool keep = !connection_->error();
  {
    const std::lock_guard lock(store_.readers_mutex_);
    if (keep) {
      store_.idle_readers_.push_back(std::move(connection_));
    } else {
      --store_.readers_;
    }
  }
  store_.reader_free_.notify_one();
}

}  // namespace cairn
