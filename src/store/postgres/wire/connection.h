// One connection to the server in pipeline mode. Used by one thread at a time.
//
// `send` queues statements, which travel together; `finish` waits for all answers. Errors are sticky: after the first
// error every further call does nothing and answers empty values, until `restore`. So a function sends its statements
// in sequence and checks for an error once.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/postgres/embedded_sql.h"
#include "store/postgres/wire/parameters.h"
#include "store/postgres/wire/row_list.h"
#include "store/postgres/wire/rows.h"
#include "store/postgres/wire/url.h"

struct pg_conn;

namespace cairn::postgres {

class Connection;

// Decides when each statement goes to the server, for tests that play every order of the statements of two nodes. While
// one is set, statements travel one by one.
class Conductor {
 public:
  virtual ~Conductor() = default;
  virtual void before(Connection& connection, Sql statement) = 0;
};

class Connection {
 public:
  static void conduct(Conductor* conductor);  // nullptr: none

  static Result<std::unique_ptr<Connection>> open(const Target& target);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Queues a statement and answers the number for `take`.
  template <class... Args>
  std::size_t send(Sql id, const Args&... args) {
    Parameters parameters(sizeof...(Args));
    (put(parameters, args), ...);
    return send_with(id, parameters);
  }
  // Waits for the answers of everything queued.
  void finish();
  // The rows of a statement sent since the `finish` before the last one; empty after an error.
  Rows take(std::size_t number);

  // Runs one statement and answers its rows.
  template <class... Args>
  Rows query(Sql id, const Args&... args) {
    const std::size_t number = send(id, args...);
    finish();
    return take(number);
  }
  // Reads the type numbers of the row types in this schema. Call it before the first list of rows is sent.
  void learn_row_types();
  // Runs text outside the list of statements on its own: migrations, LISTEN.
  void script(const std::string& text);

  const std::optional<Error>& error() const { return error_; }
  void fail(Error error);
  // Whether the connection can be used again: yes after a clean failure, no after a lost connection.
  bool usable() const;
  // Rolls back an open transaction and clears the error.
  void restore();

  // The SQLSTATE of the first error; empty if the connection itself failed.
  const std::string& state() const { return state_; }
  // A deadlock or serialization failure: nothing was written, and a retry is possible.
  bool may_repeat() const { return state_ == "40P01" || state_ == "40001"; }
  // Whether the statement `number` of the last `finish` is a guard (see sql/statements_commit.sql) that failed.
  bool guard_failed(std::size_t number) const { return state_ == "2201E" && failed_ == number; }
  // Whether a warning came since the last restore(). For a COMMIT it means that replication was not awaited.
  bool warned() const { return warned_; }
  void clear_warning() { warned_ = false; }

  // Behind a pooler, sessions are shared: no LISTEN, no session locks, no prepared statements.
  bool pooled() const { return pooled_; }
  // The number of this connection among the concurrent writers of this process.
  std::size_t place() const { return place_; }
  void set_place(std::size_t place) { place_ = place; }
  pg_conn* handle() { return handle_; }
  const std::string& schema() const { return schema_; }

 private:
  friend void note(void* connection, const struct pg_result* result);

  Connection(pg_conn* handle, std::string schema) : handle_(handle), schema_(std::move(schema)) {}
  template <class T>
  void put(Parameters& parameters, const T& value) const {
    parameters.add(value);
  }
  void put(Parameters& parameters, const RowList& rows) const { parameters.add_encoded(0, rows.encoded(row_types_)); }
  std::size_t send_with(Sql id, const Parameters& parameters);
  void read_results();
  void fail_with(const struct pg_result* result, std::size_t number);
  void lose(const std::string& why);

  struct Sent {
    bool preparation = false;  // prepares the statement that follows
    std::size_t number = 0;
    int statement = -1;  // the statement that it prepares
  };

  pg_conn* handle_;
  std::string schema_;
  RowTypes row_types_{};
  std::vector<bool> prepared_ = std::vector<bool>(static_cast<std::size_t>(Sql::count));
  std::vector<Sent> sent_;
  std::vector<Rows> answers_;
  std::size_t next_ = 0;   // the number of the next statement
  std::size_t done_ = 0;   // the first unfinished statement
  std::size_t first_ = 0;  // the statement of the first entry in `answers_`
  std::optional<Error> error_;
  std::string state_;
  std::size_t failed_ = 0;  // the statement that caused `state_`
  bool lost_ = false;
  bool warned_ = false;
  bool pooled_ = false;
  std::size_t place_ = 0;
};

// The SQLSTATE of a statement that waited too long for a lock.
inline constexpr const char* lock_timeout_state = "55P03";
// The settings that every connection sends first.
extern const char* const session_settings;
// The text of a statement for this schema.
std::string statement_text(Sql id, const std::string& schema);
// Any text of sql/ with the schema `cairn` replaced by `schema`.
std::string for_schema(std::string_view text, const std::string& schema);

}  // namespace cairn::postgres
