#include "store/sqlite/connection.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "store/audit_chain.h"
#include "store/audit_scope.h"
#include "store/sqlite/log_layer.h"
#include "store/sqlite/page_checksum.h"
#include "store/sqlite/page_file.h"
#include "store/stored_json.h"

namespace cairn::sqlite {

namespace {

// The statements of statements.sql, in enumerator order.
const std::vector<std::string_view>& sqlite_statements() {
  static const std::vector<std::string_view> texts = [] {
    std::vector<std::string_view> found;
    std::string_view rest = statements_text;
    constexpr std::string_view mark = "-- name: ";
    for (std::size_t at = rest.find(mark); at != std::string_view::npos;) {
      const std::size_t body = rest.find('\n', at) + 1;
      const std::size_t next = rest.find(mark, body);
      found.push_back(rest.substr(body, next == std::string_view::npos ? next : next - body));
      at = next;
    }
    CAIRN_ASSERT(found.size() == static_cast<std::size_t>(Sql::count));
    return found;
  }();
  return texts;
}

ErrorCode code_of(int number) {
  if (number == SQLITE_IOERR_DATA) return ErrorCode::corrupt;
  switch (number & 0xff) {
    case SQLITE_FULL:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_PERM: return ErrorCode::unavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::corrupt;
    case SQLITE_CONSTRAINT: return ErrorCode::conflict;
    case SQLITE_TOOBIG: return ErrorCode::limit;
    default: return ErrorCode::internal;
  }
}

std::string message_of(int number, const char* text) {
  if (number == SQLITE_IOERR_DATA) return "damaged: " + take_damage();
  if (number == SQLITE_IOERR_CORRUPTFS) return "store_lost: " + take_damage();
  switch (number & 0xff) {
    case SQLITE_FULL: return "storage_full: the disk that holds the store is full; free some space, nothing was lost";
    case SQLITE_READONLY: return "the store's file cannot be written (read-only file or folder)";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return std::string("the store's file is damaged or not a cairn store: ") + text;
    default: return std::string("sqlite: ") + text;
  }
}

// Creates a new store file that only its owner can access; SQLite gives the files beside it the same mode. An existing
// file is not opened here, because closing it would drop this process's locks on it.
void create_private(const std::string& path) {
  if (const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); file >= 0) ::close(file);
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, Mode mode) {
  if (mode == Mode::write && !path.starts_with(':')) create_private(path);
  sqlite3* handle = nullptr;
  const int flags =
      (mode == Mode::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, log_layer());
  std::unique_ptr<Connection> connection(new Connection(handle));
  if (code != SQLITE_OK) {
    return Error{code_of(code), path + ": " + message_of(code, handle ? sqlite3_errmsg(handle) : "out of memory")};
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, 5000);
  if (mode == Mode::write) {
    int room = page_checksum_bytes;  // applies to a new file
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &room);
    // Closing must change nothing until the store has been verified as complete and ours.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  // Large sorts then need no file in a shared folder, which a confined server cannot access.
  sqlite3_exec(handle, "PRAGMA temp_store = MEMORY", nullptr, nullptr, nullptr);
  // A statement is planned once. Without this setting SQLite prepares it again for other LIMIT values.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_QPSG, 1, nullptr);
  // The triggers enforce rules on other programs' writes. Our own statements contain these rules in their conditions.
  // With a trigger, an update would first collect its rows in a temporary table.
  if (mode == Mode::write) sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  return connection;
}

Connection::~Connection() {
  for (sqlite3_stmt* statement : statements_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

void Connection::commit_unsynced() {
  const LogProgress::Deferral deferral(log_, handle_);
  run(Sql::commit);
  data_version_ = data_version();
  check_file_sync();
}

// A commit may start a checkpoint, and SQLite hides its failure. Pages of the file may then be lost, and the next
// checkpoint would discard the log that still has them.
void Connection::check_file_sync() {
  const PageFile* const file = PageFile::of(handle_);
  if (file == nullptr || file->sync_failure == SQLITE_OK) return;
  error_.reset();
  fail({ErrorCode::unavailable, std::string("sync of the store's file: ") + sqlite3_errstr(file->sync_failure)},
       file->sync_failure);
  if (sync_failed) sync_failed(*error_);
}

void Connection::trust_log() {
  if (PageFile* const file = PageFile::of(handle_)) file->checks_log = false;
}

namespace {
// With a connection of its own, because the one that asks is in the middle of a read.
bool others_have_written(const std::string& path) {
  const auto connection = Connection::open(path, Connection::Mode::read);
  if (!connection) return false;
  if (PageFile* const file = PageFile::of((*connection)->handle())) file->takes_any_page = true;
  (*connection)->trust_log();
  return (*connection)->query(Sql::foreign_changes).next();
}
}  // namespace

void Connection::expect_foreign_pages(std::atomic<bool>& foreign) {
  PageFile* const file = PageFile::of(handle_);
  if (file == nullptr) return;
  file->foreign = &foreign;
  file->look_for_foreign = others_have_written;
}

void Connection::close_with_log_in_file() { sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr); }

std::optional<bool> Connection::has_checksums() const {
  const PageFile* const file = PageFile::of(handle_);
  if (file == nullptr || file->page_bytes == 0) return std::nullopt;
  return file->sealed;
}

bool Connection::changed_by_others() {
  const std::uint32_t before = std::exchange(data_version_, data_version());
  return before != data_version_;
}

std::uint32_t Connection::data_version() const {
  std::uint32_t version = 0;
  sqlite3_file_control(handle_, "main", SQLITE_FCNTL_DATA_VERSION, &version);
  return version;
}

void Connection::sync() {
  if (error_) return;
  const int code = log_.sync();
  if (code == SQLITE_OK) return;
  fail_with(code);
  if (sync_failed) sync_failed(*error_);
}

void Connection::script(const char* text) {
  if (error_) return;
  const int code = sqlite3_exec(handle_, text, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail_with(code);
}

sqlite3_stmt* Connection::ready(Sql id) {
  if (error_) return nullptr;
  sqlite3_stmt*& statement = statements_[static_cast<std::size_t>(id)];
  if (statement == nullptr) {
    const std::string_view text = sqlite_statements()[static_cast<std::size_t>(id)];
    const int code = sqlite3_prepare_v3(handle_, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT,
                                        &statement, nullptr);
    if (code != SQLITE_OK) {
      fail_with(code);
      return nullptr;
    }
  }
  return statement;
}

std::int64_t Connection::run_bound(sqlite3_stmt* statement) {
  int code = error_ ? SQLITE_OK : sqlite3_step(statement);
  // A statement with RETURNING answers its row here, before the rest of its work is done.
  while (code == SQLITE_ROW) code = sqlite3_step(statement);
  if (!error_ && code != SQLITE_DONE) fail_with(code);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return error_ ? 0 : sqlite3_changes64(handle_);
}

std::int64_t Connection::last_number() const { return sqlite3_last_insert_rowid(handle_); }

std::int64_t Connection::rows_changed() const { return sqlite3_total_changes(handle_); }

void Connection::forget_pages() { sqlite3_db_release_memory(handle_); }

bool Connection::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

void Connection::fail(Error error, int number) {
  if (error_) return;
  error_ = std::move(error);
  error_number_ = number;
}

void Connection::clear_error() {
  error_.reset();
  error_number_ = 0;
}

std::optional<Error> Connection::take_row_fault() {
  if (!error_ || error_number_ != 0 || error_->code != ErrorCode::corrupt) return std::nullopt;
  return std::exchange(error_, std::nullopt);
}

void Connection::fail_with(int) {
  const int number = sqlite3_extended_errcode(handle_);
  fail({code_of(number), message_of(number, sqlite3_errmsg(handle_))}, number);
}

void Connection::bind(sqlite3_stmt* statement, int index, std::int64_t value, Lifetime) {
  if (sqlite3_bind_int64(statement, index, value) != SQLITE_OK) fail_with(0);
}

void Connection::bind(sqlite3_stmt* statement, int index, double value, Lifetime) {
  if (sqlite3_bind_double(statement, index, value) != SQLITE_OK) fail_with(0);
}

void Connection::bind(sqlite3_stmt* statement, int index, std::string_view value, Lifetime lifetime) {
  const char* text = value.data() == nullptr ? "" : value.data();
  if (sqlite3_bind_text64(statement, index, text, value.size(),
                          lifetime == Lifetime::of_call ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK) {
    fail_with(0);
  }
}

void Connection::bind(sqlite3_stmt* statement, int index, std::nullopt_t, Lifetime) {
  if (sqlite3_bind_null(statement, index) != SQLITE_OK) fail_with(0);
}

void Connection::bind(sqlite3_stmt* statement, int index, const Json& value, Lifetime lifetime) {
  if (value.is_null()) {
    bind(statement, index, std::nullopt, lifetime);
  } else {
    bind(statement, index, std::string_view(write_json(value)), Lifetime::of_copy);
  }
}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

bool Query::next() {
  if (statement_ == nullptr || connection_.error_) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) connection_.fail_with(code);
  return false;
}

bool Query::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
std::int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Query::number(int column) const { return sqlite3_column_double(statement_, column); }

std::string Query::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return std::string(reinterpret_cast<const char*>(text),
                     static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

std::vector<std::string> Query::texts(int column) const {
  std::vector<std::string> texts;
  const Json list = json(column);
  if (!list.is_array()) return texts;
  for (const Json& text : list.items()) {
    if (text.is_string()) texts.emplace_back(text.as_string());
  }
  return texts;
}

Timestamp Query::time(int column) const {
  const Timestamp at = Timestamp::of_unix_ms(integer(column));
  if (at.seconds < Timestamp::seconds_min || at.seconds > Timestamp::seconds_max) {
    connection_.fail({ErrorCode::corrupt, "a stored time is out of range"});
    return {};
  }
  return at;
}

std::optional<Timestamp> Query::time_or_nothing(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

Json Query::json(int column) const {
  if (is_null(column)) return {};
  auto parsed = parse_stored(text(column));
  if (!parsed) {
    connection_.fail({ErrorCode::corrupt, "a stored value is not JSON: " + parsed.error().message});
    return {};
  }
  return std::move(*parsed);
}

void Query::fail(Error error) const { connection_.fail(std::move(error)); }

Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.clear_error();
  connection_.run(Sql::begin);
  rows_changed_before_ = connection_.rows_changed();
  open_ = !connection_.error();
  if (open_ && connection_.refuse) {
    if (auto refused = connection_.refuse()) connection_.fail(std::move(*refused));
  }
}

Transaction::~Transaction() {
  if (!open_ || !connection_.in_transaction()) return;
  connection_.sync();
  const auto error = connection_.error();
  const int number = connection_.error_number();
  connection_.clear_error();
  connection_.run(Sql::rollback);
  connection_.clear_error();
  connection_.changed_by_others();  // our own change
  if (error) connection_.fail(*error, number);
}

Result<void> Transaction::commit(Sync sync) {
  std::optional<PendingAuditRows> pending_audit;
  if (AuditScope::current() != nullptr && connection_.rows_changed() != rows_changed_before_) {
    append_audit_rows(connection_, pending_audit.emplace().rows());
  }
  if (sync == Sync::ahead) {
    connection_.commit_unsynced();
  } else {
    if (!connection_.error()) {
      connection_.run(Sql::commit);
      connection_.changed_by_others();  // our own change
      connection_.check_file_sync();
    }
    connection_.sync();
  }
  if (connection_.error()) return *connection_.error();
  if (pending_audit) pending_audit->written();
  open_ = false;
  return {};
}

void append_audit_rows(Connection& connection, std::span<const AuditRow> rows) {
  if (rows.empty() || connection.error()) return;
  std::optional<AuditRow> last;
  {
    Query newest = connection.query(Sql::last_audit);
    if (newest.next()) {
      last.emplace();
      last->sequence = newest.integer(0);
      last->hash = newest.text(1);
    }
  }
  for (const AuditRow& row : rows) {
    last = chained(row, last);
    connection.run(Sql::insert_audit, last->sequence, last->at, last->who, last->what, last->resource, last->why,
                   last->from, last->details, last->previous_hash, last->hash);
  }
}

std::string json_text(const Json& value) { return write_json(value); }

}  // namespace cairn::sqlite
