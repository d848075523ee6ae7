// One SQLite connection with its prepared statements. Used by one thread at a time.
//
// Errors are sticky: after the first error every further call does nothing and answers empty values, and a transaction
// cannot commit. So a function runs its statements in sequence and checks for an error once.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "store/access_rows.h"
#include "store/sqlite/embedded_sql.h"
#include "store/sqlite/log_layer.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cairn::sqlite {

class Connection;

// The rows of one statement. The destructor resets the statement.
class Query {
 public:
  Query(Connection& connection, sqlite3_stmt* statement) : connection_(connection), statement_(statement) {}
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query();

  // Steps to the next row. False at the end and after an error.
  bool next();

  bool is_null(int column) const;
  bool boolean(int column) const { return integer(column) != 0; }
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;                // empty for NULL
  std::vector<std::string> texts(int column) const;  // of a JSON array
  Timestamp time(int column) const;
  std::optional<Timestamp> time_or_nothing(int column) const;
  // NULL is null. Text that is not JSON sets a sticky corrupt error.
  Json json(int column) const;
  Json stored_json(int column) const { return json(column); }  // PostgreSQL reads values of other programs differently
  // Sets the sticky error.
  void fail(Error error) const;

 private:
  Connection& connection_;
  sqlite3_stmt* statement_;
};

class Connection {
 public:
  enum class Mode { write, read };
  static Result<std::unique_ptr<Connection>> open(const std::string& path, Mode mode);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs a statement without result rows and answers how many rows it changed.
  template <class... Args>
  std::int64_t run(Sql id, const Args&... args) {
    sqlite3_stmt* statement = ready(id);
    if (statement == nullptr) return 0;
    int index = 0;
    (bind(statement, ++index, args, Lifetime::of_call), ...);
    return run_bound(statement);
  }
  // The rows of a statement. The arguments may be destroyed before the rows are read.
  template <class... Args>
  Query query(Sql id, const Args&... args) {
    sqlite3_stmt* statement = ready(id);
    int index = 0;
    if (statement != nullptr) (bind(statement, ++index, args, Lifetime::of_copy), ...);
    return Query(*this, statement);
  }
  // Runs text outside the list of statements: pragmas and migrations.
  void script(const char* text);

  std::int64_t last_number() const;  // of the last inserted row

  const std::optional<Error>& error() const { return error_; }
  int error_number() const { return error_number_; }  // SQLite's extended code
  void fail(Error error, int number = 0);
  void clear_error();
  // The fault of the last row, if only that row is damaged. Reading can continue after it.
  std::optional<Error> take_row_fault();
  bool in_transaction() const;
  std::int64_t rows_changed() const;  // since it was opened
  void forget_pages();                // frees cached pages
  // COMMIT without its sync, which `LogProgress::sync` does later.
  void commit_unsynced();
  LogProgress& log() { return log_; }
  // A reader already has its answer when this fails; `sync_failed` keeps the answer from being returned.
  void sync();
  std::function<void(const Error&)> sync_failed;
  // Called at the start of a transaction: the reason why nothing may be written.
  std::function<std::optional<Error>()> refuse;
  // For the owner of the store: its log was checked at recovery or was written by this process. Checking each read
  // again would add a third to its cost.
  void trust_log();
  // `foreign` is true while another program may have written to the file. Pages with wrong checksums are then its work
  // and not damage. A read that finds such a page sets it if the store has counted changes of another program. The flag
  // must outlive the connection.
  void expect_foreign_pages(std::atomic<bool>& foreign);
  // From now on the last connection to close moves the log into the file.
  void close_with_log_in_file();
  // Whether the pages of the file have room for checksums; empty before the file has a header.
  std::optional<bool> has_checksums() const;
  // Whether another program has written to the store since the last call, or since the last commit here.
  bool changed_by_others();
  // Call it after a commit. It ends the process if pages of the file may be lost.
  void check_file_sync();
  sqlite3* handle() { return handle_; }

 private:
  friend class Query;
  enum class Lifetime { of_call, of_copy };

  explicit Connection(sqlite3* handle) : handle_(handle) {}
  sqlite3_stmt* ready(Sql id);
  std::int64_t run_bound(sqlite3_stmt* statement);
  void fail_with(int code);
  std::uint32_t data_version() const;

  void bind(sqlite3_stmt* statement, int index, std::int64_t value, Lifetime);
  void bind(sqlite3_stmt* statement, int index, int value, Lifetime lifetime) {
    bind(statement, index, static_cast<std::int64_t>(value), lifetime);
  }
  void bind(sqlite3_stmt* statement, int index, std::uint64_t value, Lifetime lifetime) {
    bind(statement, index, static_cast<std::int64_t>(value), lifetime);
  }
  void bind(sqlite3_stmt* statement, int index, bool value, Lifetime lifetime) {
    bind(statement, index, static_cast<std::int64_t>(value), lifetime);
  }
  void bind(sqlite3_stmt* statement, int index, double value, Lifetime);
  void bind(sqlite3_stmt* statement, int index, std::string_view value, Lifetime lifetime);
  void bind(sqlite3_stmt* statement, int index, const std::string& value, Lifetime lifetime) {
    bind(statement, index, std::string_view(value), lifetime);
  }
  void bind(sqlite3_stmt* statement, int index, const char* value, Lifetime lifetime) {
    bind(statement, index, std::string_view(value), lifetime);
  }
  void bind(sqlite3_stmt* statement, int index, Timestamp value, Lifetime lifetime) {
    bind(statement, index, value.unix_ms(), lifetime);
  }
  void bind(sqlite3_stmt* statement, int index, std::nullopt_t, Lifetime);
  // null becomes NULL, every other value its canonical text.
  void bind(sqlite3_stmt* statement, int index, const Json& value, Lifetime);
  template <class T>
  void bind(sqlite3_stmt* statement, int index, const std::optional<T>& value, Lifetime lifetime) {
    if (value) {
      bind(statement, index, *value, lifetime);
    } else {
      bind(statement, index, std::nullopt, lifetime);
    }
  }

  LogProgress log_;  // outlives the log, which closes with the connection
  sqlite3* handle_;
  std::array<sqlite3_stmt*, static_cast<std::size_t>(Sql::count)> statements_{};
  std::optional<Error> error_;
  int error_number_ = 0;
  std::uint32_t data_version_ = 0;
};

// BEGIN IMMEDIATE … COMMIT. It rolls back unless committed. If it changes something, it also writes the calling
// thread's pending audit rows (store/audit_scope.h).
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Answers the first error of any statement since the start; then nothing was written. `ahead`: the caller syncs it
  // later. Every other transaction leaves nothing unsynced, even if it only read.
  enum class Sync { now, ahead };
  Result<void> commit(Sync sync = Sync::now);

 private:
  Connection& connection_;
  std::int64_t rows_changed_before_ = 0;
  bool open_ = false;
};

// Appends rows to the audit chain, inside a transaction.
void append_audit_rows(Connection& connection, std::span<const AuditRow> rows);

// "" is NULL.
inline std::optional<std::string_view> text_or_null(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}
// null stays the JSON text `null`, for columns that are never NULL.
std::string json_text(const Json& value);

}  // namespace cairn::sqlite
