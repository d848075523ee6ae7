#include "store/sqlite/file_check.h"

#include <sched.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <set>

#include "store/sqlite/log_check.h"
#include "store/sqlite/page_checksum.h"
#include "store/sqlite/page_file.h"

namespace cairn::sqlite {

namespace {

// Reads SQLite's variable-length integer; empty if the page ends first.
std::optional<std::uint64_t> read_varint(const std::uint8_t*& at, const std::uint8_t* end) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= end) return std::nullopt;
    const std::uint8_t byte = *at++;
    if (i == 8) return value << 8 | byte;
    value = value << 7 | (byte & 0x7f);
    if ((byte & 0x80) == 0) return value;
  }
  return value;
}

// Follows the trees from their roots and finds the owners of the damaged pages.
class Ownership {
 public:
  Ownership(PageFile& file, const std::map<std::uint32_t, sqlite3_int64>& in_log, sqlite3_file* log,
            std::map<std::uint32_t, DamagedPage>& damaged)
      : file_(file), in_log_(in_log), log_(log), damaged_(damaged), usable_(file.page_bytes - page_checksum_bytes) {}

  void follow(std::uint32_t root, const std::string& owner, const std::string& table, bool counted = true) {
    owner_ = owner;
    table_ = table;
    counted_ = counted;
    visit(root, INT64_MIN, INT64_MAX, 0);
  }

  void follow_free_pages() {
    owner_ = "free pages";
    table_.clear();
    counted_ = true;
    std::vector<std::uint8_t> page(file_.page_bytes);
    if (!load(1, page)) return;
    std::uint32_t next = read_big_endian(page.data() + 32);
    while (next != 0 && seen_.insert(next).second) {
      if (note(next, false, 0, 0) || !load(next, page)) return;
      const std::size_t leaves = std::min<std::size_t>(read_big_endian(page.data() + 4), usable_ / 4 - 2);
      for (std::size_t i = 0; i < leaves; ++i) free_.insert(read_big_endian(page.data() + 8 + 4 * i));
      next = read_big_endian(page.data());
    }
  }
  // A free page, whose content is never read.
  bool is_free(std::uint32_t number) const { return free_.contains(number); }

 private:
  using Bytes = std::vector<std::uint8_t>;

  bool load(std::uint32_t number, Bytes& page) {
    const auto newest = in_log_.find(number);
    if (newest != in_log_.end()) {
      return log_->pMethods->xRead(log_, page.data(), static_cast<int>(page.size()),
                                   newest->second + static_cast<sqlite3_int64>(frame_header_bytes)) == SQLITE_OK;
    }
    return file_.call().xRead(file_.below(), page.data(), static_cast<int>(page.size()),
                              static_cast<sqlite3_int64>(number - 1) * static_cast<sqlite3_int64>(page.size())) ==
           SQLITE_OK;
  }

  // True if the page is damaged; then its owner has been recorded.
  bool note(std::uint32_t number, bool rows, std::int64_t after, std::int64_t upto) {
    const auto found = damaged_.find(number);
    if (found == damaged_.end()) return false;
    found->second.owner = owner_;
    found->second.table = table_;
    found->second.counted = counted_;
    found->second.has_rows = rows;
    found->second.after = after;
    found->second.upto = upto;
    return true;
  }

  void visit(std::uint32_t number, std::int64_t after, std::int64_t upto, int depth) {
    constexpr int depth_max = 20;
    if (depth > depth_max || number == 0 || !seen_.insert(number).second) return;
    if (note(number, owner_ == table_, after, upto)) return;
    Bytes page(file_.page_bytes);
    if (!load(number, page)) return;
    const std::uint8_t* const head = page.data() + (number == 1 ? 100 : 0);
    const std::uint8_t kind = head[0];
    const bool interior = kind == 2 || kind == 5;
    const bool rows = kind == 5 || kind == 13;
    const std::size_t cells = std::size_t{head[3]} << 8 | head[4];
    const std::uint8_t* const list = head + (interior ? 12 : 8);
    const std::uint8_t* const end = page.data() + usable_;
    for (std::size_t i = 0; i < cells && list + 2 * i + 2 <= end; ++i) {
      const std::uint8_t* cell = page.data() + (std::size_t{list[2 * i]} << 8 | list[2 * i + 1]);
      if (cell + 4 > end) continue;
      const std::uint32_t child = interior ? read_big_endian(cell) : 0;
      if (interior) cell += 4;
      std::optional<std::uint64_t> payload = 0;
      if (!(interior && rows)) payload = read_varint(cell, end);
      std::optional<std::uint64_t> key = 0;
      if (rows) key = read_varint(cell, end);
      if (!payload || !key) continue;
      const auto row = static_cast<std::int64_t>(*key);
      if (interior) visit(child, after, rows ? row : upto, depth + 1);
      if (interior && rows) after = row;
      if (*payload > 0) follow_overflow(cell, end, *payload, rows, row);
    }
    if (interior) visit(read_big_endian(head + 8), after, upto, depth + 1);
  }

  // The part of a row that does not fit its page is in a chain of other pages.
  void follow_overflow(const std::uint8_t* cell, const std::uint8_t* end, std::uint64_t payload, bool rows,
                       std::int64_t row) {
    const std::size_t most = rows ? usable_ - 35 : (usable_ - 12) * 64 / 255 - 23;
    const std::size_t least = (usable_ - 12) * 32 / 255 - 23;
    if (payload <= most) return;
    const std::size_t wanted = least + (payload - least) % (usable_ - 4);
    const std::size_t local = wanted <= most ? wanted : least;
    if (cell + local + 4 > end) return;
    std::uint32_t next = read_big_endian(cell + local);
    Bytes page(file_.page_bytes);
    while (next != 0 && seen_.insert(next).second) {
      if (note(next, rows, row - 1, row) || !load(next, page)) return;
      next = read_big_endian(page.data());
    }
  }

  PageFile& file_;
  const std::map<std::uint32_t, sqlite3_int64>& in_log_;
  sqlite3_file* log_;
  std::map<std::uint32_t, DamagedPage>& damaged_;
  std::size_t usable_;
  std::string owner_;
  std::string table_;
  bool counted_ = true;
  std::set<std::uint32_t> seen_;
  std::set<std::uint32_t> free_;
};

// Another process may be writing the page at this moment.
Result<bool> is_damaged(PageFile& file, std::uint32_t number, std::vector<std::uint8_t>& page) {
  constexpr int tries = 10;
  for (int i = 0; i < tries; ++i) {
    const int code =
        file.call().xRead(file.below(), page.data(), static_cast<int>(page.size()),
                          static_cast<sqlite3_int64>(number - 1) * static_cast<sqlite3_int64>(page.size()));
    if (code != SQLITE_OK) {
      return Error{ErrorCode::unavailable,
                   file.path + ": page " + std::to_string(number) + " cannot be read: " + sqlite3_errstr(code)};
    }
    if (check_page(page.data(), page.size(), number) != PageState::damaged) return false;
    ::sched_yield();
  }
  return true;
}

}  // namespace

Result<std::vector<DamagedPage>> damaged_pages(Connection& connection, std::size_t max) {
  std::int64_t pages = 0;
  {
    Query count = connection.query(Sql::page_count);
    if (count.next()) pages = count.integer(0);
  }
  // If page 1 cannot be read, SQLite does not know the number of pages.
  connection.clear_error();
  PageFile* const file = PageFile::of(connection.handle());
  if (file == nullptr || !file->sealed) return std::vector<DamagedPage>();
  LogFindings log;
  sqlite3_file* log_file = nullptr;
  sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log_file);
  if (log_file != nullptr && log_file->pMethods != nullptr) log = check_log(log_file, false);

  sqlite3_int64 size = 0;
  if (file->call().xFileSize(file->below(), &size) != SQLITE_OK) {
    return Error{ErrorCode::unavailable, file->path + ": cannot be measured"};
  }
  const sqlite3_int64 whole = size / static_cast<sqlite3_int64>(file->page_bytes);
  std::map<std::uint32_t, DamagedPage> damaged;
  std::vector<std::uint8_t> page(file->page_bytes);
  for (sqlite3_int64 at = 1; at <= std::max<sqlite3_int64>(whole, pages) && damaged.size() < max; ++at) {
    const auto number = static_cast<std::uint32_t>(at);
    if (log.pages.contains(number)) continue;
    const bool missing = at > whole;
    bool damaged_here = missing;
    if (!missing) {
      CAIRN_TRY(damaged_here, is_damaged(*file, number, page));
    }
    if (damaged_here) {
      damaged[number].number = number;
      damaged[number].missing = missing;
      damaged[number].one_bit = !missing && mend_page(page.data(), page.size(), number);
    }
  }
  if (damaged.empty()) return std::vector<DamagedPage>();

  Ownership ownership(*file, log.pages, log_file, damaged);
  ownership.follow(1, "sqlite_schema", "sqlite_schema");
  std::vector<std::tuple<std::uint32_t, std::string, std::string, bool>> roots;
  {
    Query trees = connection.query(Sql::list_trees);
    while (trees.next()) {
      roots.emplace_back(static_cast<std::uint32_t>(trees.integer(0)), trees.text(1), trees.text(2), trees.boolean(3));
    }
  }
  connection.clear_error();
  for (const auto& [root, owner, table, counted] : roots) ownership.follow(root, owner, table, counted);
  ownership.follow_free_pages();
  std::vector<DamagedPage> found;
  for (auto& [number, one] : damaged) {
    if (one.owner.empty() && ownership.is_free(number)) continue;
    found.push_back(std::move(one));
  }
  return found;
}

Result<void> seal_pages(Connection& connection, std::span<const DamagedPage> pages, Seal seal) {
  PageFile* const file = PageFile::of(connection.handle());
  if (file == nullptr || pages.empty()) return {};
  std::vector<std::uint8_t> page(file->page_bytes);
  const auto size = static_cast<int>(page.size());
  int code = SQLITE_OK;
  for (const DamagedPage& one : pages) {
    const sqlite3_int64 at = static_cast<sqlite3_int64>(one.number - 1) * size;
    if (code = file->call().xRead(file->below(), page.data(), size, at); code != SQLITE_OK) break;
    if (seal == Seal::mended) {
      mend_page(page.data(), page.size(), one.number);
    } else {
      seal_page(page.data(), page.size(), one.number);
    }
    if (code = file->call().xWrite(file->below(), page.data(), size, at); code != SQLITE_OK) break;
  }
  if (code == SQLITE_OK) code = file->call().xSync(file->below(), SQLITE_SYNC_NORMAL);
  if (code != SQLITE_OK) return Error{ErrorCode::unavailable, file->path + ": " + sqlite3_errstr(code)};
  return {};
}

}  // namespace cairn::sqlite
