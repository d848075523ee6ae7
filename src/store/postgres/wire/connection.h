// One connection to the server in pipeline mode. Used by one thread at a time.
//
// Statements are queued with `send` and travel together; `finish` waits for all their answers. Errors
// stick: after the first one every further call does nothing and gives nothing, until the connection is
// used anew. So a verb sends its statements one after the other and asks once.
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

// Decides when each statement goes to the server: for tests that play every order of the statements of two
// nodes. While there is one, statements travel one by one.
class Conductor {
 public:
  virtual ~Conductor() = default;
  virtual void before(Connection& connection, Sql statement) = 0;
};

class Connection {
 public:
  static void conduct(Conductor* conductor);  // nullptr: nobody

  static Result<std::unique_ptr<Connection>> open(const Target& target);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Queues a statement; the number to ask for its rows with.
  template <class... Args>
  std::size_t send(Sql id, const Args&... args) {
    Parameters parameters(sizeof...(Args));
    (put(parameters, args), ...);
    return send_with(id, parameters);
  }
  // Waits for the answers of everything queued.
  void finish();
  // Of a statement that was sent since the last `finish` but one; empty after an error.
  Rows take(std::size_t number);

  // One statement and its rows.
  template <class... Args>
  Rows query(Sql id, const Args&... args) {
    const std::size_t number = send(id, args...);
    finish();
    return take(number);
  }
  // Asks what numbers the types of rows have in this schema: before the first list of rows is sent.
  void learn_row_types();
  // Text outside the list of statements, alone: migrations, LISTEN.
  void script(const std::string& text);

  const std::optional<Error>& error() const { return error_; }
  void fail(Error error);
  // After a clean failure the connection may be used again; after a lost one it may not.
  bool usable() const;
  // Rolls back what is open and forgets the error.
  void restore();

  // SQLSTATE of the first error; empty when the connection itself failed.
  const std::string& state() const { return state_; }
  // Deadlock or serialization failure: nothing was written, the same may be tried again.
  bool may_repeat() const { return state_ == "40P01" || state_ == "40001"; }
  // A warning came since the last restore(): of a COMMIT, that its replication was not waited for.
  bool warned() const { return warned_; }
  void clear_warning() { warned_ = false; }

  // Behind a pooler sessions are not ours: no LISTEN, no session locks, no prepared statements.
  bool pooled() const { return pooled_; }
  // Whoever writes at the same time as others of this process has a place of its own among them.
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
  void fail_with(const struct pg_result* result);
  void lose(const std::string& why);

  struct Sent {
    bool preparation = false;  // of what comes after it
    std::size_t number = 0;
    int statement = -1;  // prepared with it
  };

  pg_conn* handle_;
  std::string schema_;
  RowTypes row_types_{};
  std::vector<bool> prepared_ = std::vector<bool>(static_cast<std::size_t>(Sql::count));
  std::vector<Sent> sent_;
  std::vector<Rows> answers_;
  std::size_t next_ = 0;   // the next statement's number
  std::size_t done_ = 0;   // the first one that was not finished yet
  std::size_t first_ = 0;  // whose answer stands first in `answers_`
  std::optional<Error> error_;
  std::string state_;
  bool lost_ = false;
  bool warned_ = false;
  bool pooled_ = false;
  std::size_t place_ = 0;
};

// What every connection says first.
extern const char* const session_settings;
// The text of a statement for this schema.
std::string statement_text(Sql id, const std::string& schema);
// Any text of sql/, which is written for the schema `cairn`.
std::string for_schema(std::string_view text, const std::string& schema);

}  // namespace cairn::postgres
