// Checks between a store and its file: whether it can be written, and what of it cannot be read.
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "store/sqlite/file_check.h"
#include "store/sqlite/log_rescue.h"
#include "store/sqlite/migrate.h"
#include "store/sqlite/page_file.h"
#include "store/sqlite/reader.h"

namespace cairn {

using sqlite::Connection;
using sqlite::DamagedPage;
using sqlite::FileIdentity;
using sqlite::Query;
using sqlite::Sql;
using sqlite::Transaction;

namespace {

std::optional<std::pair<FileIdentity, std::int64_t>> look_at(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return std::pair{FileIdentity{static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino)},
                   static_cast<std::int64_t>(found.st_size)};
}

std::optional<Sql> naming_statement(const std::string& table) {
  if (table == "wf_instances_base") return Sql::instances_of_rows;
  if (table == "wf_runtime_states") return Sql::instances_of_states;
  if (table == "wf_tasks") return Sql::tasks_of_rows;
  if (table == "workflow_run") return Sql::runs_of_rows;
  if (table == "wf_execution_log_base") return Sql::instances_of_log;
  return std::nullopt;
}

// Names the table, the row numbers and the owners of the rows, as far as other pages tell.
std::string name_rows(Connection& db, const DamagedPage& page) {
  if (page.owner.empty()) return "what it belongs to is lost with another page";
  if (page.owner != page.table) return page.owner + (page.table.empty() ? "" : " (an index of " + page.table + ")");
  if (!page.has_rows) return page.owner;
  std::string text = page.owner + ", rows";
  if (page.after != INT64_MIN) text += " from " + std::to_string(page.after + 1);
  if (page.upto != INT64_MAX) text += " to " + std::to_string(page.upto);
  if (page.after == INT64_MIN && page.upto == INT64_MAX) text += ": all";
  const auto statement = naming_statement(page.owner);
  if (!statement) return text;
  std::string ids;
  {
    Query rows = db.query(*statement, page.after, page.upto);
    while (rows.next()) ids += (ids.empty() ? "" : ", ") + rows.text(0);
  }
  db.clear_error();  // that page is damaged too
  return ids.empty() ? text : text + " (" + ids + ")";
}

}  // namespace

std::optional<Error> SqliteStore::refuse_to_write() {
  if (writer_->changed_by_others()) {
    foreign_ = true;
    newer_schema_ = sqlite::newer_schema(*writer_);
  }
  if (newer_schema_) return newer_schema_;
  // The check needs two system calls. This interval is short enough to notice a change and costs commits nothing.
  constexpr std::chrono::milliseconds interval{50};
  const auto now = std::chrono::steady_clock::now();
  if (!file_fault_said_ && now - file_checked_at_ < interval) return std::nullopt;
  file_checked_at_ = now;
  return file_fault();
}

// Data written to a file that cannot be opened again is lost, and a truncated log would be recovered without its end.
// The process keeps running, because its open files still have the data.
std::optional<Error> SqliteStore::file_fault() {
  if (!owner_ || !owner_->file()) return std::nullopt;
  const std::string& path = owner_->path();
  const auto fault = [&]() -> std::optional<std::string> {
    const auto file = look_at(path);
    if (!file) return path + " is gone";
    if (file->first != *owner_->file()) return path + " is another file now";
    auto* const pages = sqlite::PageFile::of(writer_->handle());
    // Another program may legitimately shrink the file (VACUUM).
    if (pages != nullptr && foreign_) pages->end = std::min<sqlite3_int64>(pages->end, file->second);
    if (pages != nullptr && file->second < pages->end) return path + " was truncated";
    const auto log = look_at(path + "-wal");
    if (!log_file_ && log) log_file_ = log->first;
    if (!log_file_) return std::nullopt;
    if (!log) return path + "-wal is gone";
    if (log->first != *log_file_) return path + "-wal is another file now";
    if (log->second < sqlite::log_end(writer_->handle())) return path + "-wal was truncated";
    return std::nullopt;
  }();
  if (!fault) {
    file_fault_said_ = false;
    return std::nullopt;
  }
  if (!std::exchange(file_fault_said_, true)) {
    log_error("store.file_lost", {{"path", path},
                                  {"reason", *fault},
                                  {"advice",
                                   "nothing more is written. A file that was deleted can be copied from "
                                   "/proc/" +
                                       std::to_string(::getpid()) + "/fd while this process lives"}});
  }
  return Error{ErrorCode::unavailable, "store_lost: " + *fault + "; nothing is written until it is back"};
}

Result<void> SqliteStore::check_writable() {
  if (auto refused = refusal()) return *refused;
  CAIRN_TRY_VOID(schema_version());
  if (owner_ && owner_->file()) {
    struct statvfs disk {};
    if (::statvfs(owner_->path().c_str(), &disk) == 0) {
      if ((disk.f_flag & ST_RDONLY) != 0) return Error{ErrorCode::unavailable, "the store's disk is read-only"};
      // With less free space, one of the next commits would fail.
      constexpr std::uint64_t bytes_min = 256 * 1024;
      const auto blocks = static_cast<std::uint64_t>(::geteuid() == 0 ? disk.f_bfree : disk.f_bavail);
      if (blocks * disk.f_frsize < bytes_min)
        return Error{ErrorCode::unavailable, "storage_full: the disk that holds the store is full"};
    }
  }
  const std::lock_guard lock(writer_mutex_);
  writer_->clear_error();
  file_checked_at_ = {};
  if (auto refused = refuse_to_write()) return *refused;
  if (!write_failed_) return {};
  Transaction transaction(*writer_);
  std::int64_t schema = 0;
  {
    Query version = writer_->query(Sql::user_version);
    if (version.next()) schema = version.integer(0);
  }
  writer_->script(("PRAGMA user_version = " + std::to_string(schema)).c_str());
  if (auto done = transaction.commit(); !done) return failed(done.error());
  write_failed_ = false;
  return {};
}

// The owner runs this when it opens the store. First the log is moved into the file. Pages that another program wrote
// get their checksums if the tables are sound; otherwise single bits are repaired. Everything else is damage.
Result<SqliteStore::PagesAre> SqliteStore::check_pages() {
  writer_->script("PRAGMA wal_checkpoint(PASSIVE)");
  writer_->clear_error();
  foreign_ = sqlite::has_foreign_changes(*writer_);
  writer_->clear_error();  // if unreadable, there is no evidence of foreign writes
  CAIRN_TRY(std::vector<DamagedPage> damaged, sqlite::damaged_pages(*writer_, SIZE_MAX));
  if (damaged.empty()) return PagesAre::whole;
  const bool foreign = foreign_;
  const auto is_written = [foreign](const DamagedPage& page) { return foreign || !page.counted; };
  const auto bad = std::partition(damaged.begin(), damaged.end(), [&](const DamagedPage& page) {
    return !page.missing && (is_written(page) || page.one_bit);
  });
  if (bad != damaged.end()) {
    constexpr std::ptrdiff_t enough = 4;
    std::string text;
    for (auto page = bad; page != damaged.end() && page - bad < enough; ++page) {
      text += (page == bad ? "page " : "; page ") + std::to_string(page->number) + ": " + name_rows(*writer_, *page);
    }
    if (damaged.end() - bad > enough) text += "; and " + std::to_string(damaged.end() - bad - enough) + " more";
    return Error{ErrorCode::corrupt, "the file is damaged, " + text +
                                         ". Restore it from a backup; `cairn verify` names everything that is lost"};
  }
  const auto mended = std::partition(damaged.begin(), damaged.end(), is_written);
  CAIRN_TRY_VOID(seal({mended, damaged.end()}, sqlite::Seal::mended));
  if (mended != damaged.begin()) {
    foreign_ = true;  // for the check
    const std::string sound = [this] {
      Query check = writer_->query(Sql::quick_check);
      return check.next() ? check.text(0) : writer_->error() ? writer_->error()->message : "it cannot be read";
    }();
    foreign_ = foreign;
    if (sound != "ok") return Error{ErrorCode::corrupt, "the file is damaged: " + sound};
    CAIRN_TRY_VOID(seal({damaged.begin(), mended}, sqlite::Seal::as_they_are));
  }
  return mended == damaged.end() ? PagesAre::whole : PagesAre::mended;
}

Result<void> SqliteStore::seal(std::span<const DamagedPage> pages, sqlite::Seal how) {
  if (pages.empty()) return {};
  CAIRN_TRY_VOID(sqlite::seal_pages(*writer_, pages, how));
  const bool written = how == sqlite::Seal::as_they_are;
  log_warning(
      written ? "store.pages_sealed" : "store.pages_repaired",
      {{"path", path_},
       {"pages", static_cast<std::int64_t>(pages.size())},
       {"advice", written ? "another program wrote them" : "the disk changed one bit in each. Check the disk"}});
  return {};
}

Result<std::vector<StoreFault>> SqliteStore::faults(std::size_t max) {
  std::vector<StoreFault> found;
  if (mode_ == Mode::read_only) {
    if (const std::string damage = sqlite::log_damage(path_); !damage.empty()) {
      found.push_back({"log", "the commits that lie behind", damage});
    }
  }
  Reader db = reader();
  CAIRN_TRY(std::vector<DamagedPage> damaged, sqlite::damaged_pages(*db, max));
  std::erase_if(damaged, [this](const DamagedPage& page) { return !page.missing && (foreign_ || !page.counted); });
  if (mode_ == Mode::read_only) damaged_ = damaged;
  for (const DamagedPage& page : damaged) {
    found.push_back({"page " + std::to_string(page.number), name_rows(*db, page),
                     page.missing   ? "the file ends before it"
                     : page.one_bit ? "one bit in it is wrong; the next owner puts it right"
                                    : "it does not match its checksum"});
  }
  return found;
}

void SqliteStore::pass_damage(Connection& db, std::initializer_list<std::string_view> tables, std::int64_t from,
                              std::string& next_cursor) const {
  if (!db.error() || db.error_number() != SQLITE_IOERR_DATA) return;
  // Lists run from the highest number to the lowest, so the first damaged rows below are the ones that were met.
  const DamagedPage* met = nullptr;
  for (const DamagedPage& page : damaged_) {
    const bool is_ours = page.has_rows && std::find(tables.begin(), tables.end(), page.owner) != tables.end();
    if (is_ours && page.after + 1 < from && (met == nullptr || page.upto > met->upto)) met = &page;
  }
  if (met == nullptr) return;
  db.clear_error();
  if (met->after != INT64_MIN) next_cursor = std::to_string(met->after + 1);
}

}  // namespace cairn
