#include "store/postgres/wire/connection.h"

#include <libpq-fe.h>

#include <atomic>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "store/postgres/wire/host_addresses.h"

namespace cairn::postgres {

// Each statement has a timeout, and the server ends a transaction whose node has disappeared, so it cannot keep its
// locks.
//
// Names are resolved in the server's own schema only. Otherwise another user could shadow a built-in operator or
// function with a better matching one in another schema, and it would run with our rights. Our own tables and types are
// named with their schema.
const char* const session_settings =
    "SET search_path = pg_catalog, pg_temp; "
    "SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '15s'; SET lock_timeout = '20s'; "
    "SET timezone = 'UTC'; SET client_min_messages = warning; SET plan_cache_mode = force_generic_plan; "
    // Reading a page of a list takes less time than starting a parallel process of the server.
    "SET max_parallel_workers_per_gather = 0; "
    "SET default_transaction_isolation = 'read committed'; "
    // Plans are made once, on tables that may still be empty. Without these settings they would scan the tables
    // forever. If there is no other way, the server still scans. The estimated cost of such a plan is so high that the
    // server would compile it at every call (100 ms each), so jit is off.
    "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET "
    "jit = off; "
    // A batch looks up each value once. Memoization cost 3 % of the server's time.
    "SET enable_memoize = off";

namespace {

std::atomic<Conductor*> conductor = nullptr;

const std::vector<std::string_view>& postgres_statements() {
  static const std::vector<std::string_view> texts = [] {
    std::vector<std::string_view> list;
    std::string_view all = statements_text;
    constexpr std::string_view mark = "-- name: ";
    std::size_t at = all.find(mark);
    while (at != std::string_view::npos) {
      const std::size_t begin = all.find('\n', at) + 1;
      at = all.find(mark, begin);
      list.push_back(all.substr(begin, at == std::string_view::npos ? at : at - begin));
    }
    return list;
  }();
  return texts;
}

ErrorCode code_of(std::string_view state) {
  if (state.starts_with("22") || state.starts_with("23")) return ErrorCode::conflict;  // a constraint of the tables
  if (state.starts_with("08") || state.starts_with("53") || state.starts_with("57") || state.starts_with("58") ||
      state.starts_with("40") || state == "25006" || state == "55P03" || state == "25P03") {
    return ErrorCode::unavailable;
  }
  if (state.starts_with("54")) return ErrorCode::limit;  // for example a row that is too long for its index
  if (state == "42501" || state.starts_with("28")) return ErrorCode::not_allowed;
  if (state == "XX001" || state == "XX002") return ErrorCode::corrupt;
  return ErrorCode::internal;
}

std::string trimmed(const char* message) {
  std::string text = message ? message : "";
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

void Connection::conduct(Conductor* given) { conductor = given; }

std::string for_schema(std::string_view text, const std::string& schema) {
  if (schema == "cairn") return std::string(text);
  std::string out;
  constexpr std::string_view from = "cairn.";
  std::size_t at = 0;
  for (std::size_t found = text.find(from); found != std::string_view::npos; found = text.find(from, at)) {
    out.append(text.substr(at, found - at)).append(schema).append(".");
    at = found + from.size();
  }
  return out.append(text.substr(at));
}

std::string statement_text(Sql id, const std::string& schema) {
  return for_schema(postgres_statements()[static_cast<std::size_t>(id)], schema);
}

void note(void* given, const PGresult* result) {
  auto* connection = static_cast<Connection*>(given);
  const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity == nullptr || std::string_view(severity) != "WARNING") return;
  connection->warned_ = true;
  log_warning("postgres.warning", {{"message", trimmed(PQresultErrorMessage(result))}});
}

Result<std::unique_ptr<Connection>> Connection::open(const Target& target) {
  const auto connected = connect(target.conninfo);
  if (!connected) return Error{connected.error().code, target.shown + ": " + connected.error().message};
  PGconn* const handle = *connected;
  std::unique_ptr<Connection> connection(new Connection(handle, target.schema));
  if (PQstatus(handle) != CONNECTION_OK) {
    const std::string why = handle ? trimmed(PQerrorMessage(handle)) : "out of memory";
    return Error{ErrorCode::unavailable, target.shown + ": " + why};
  }
  PQsetNoticeReceiver(handle, note, connection.get());
  PGresult* settings = PQexec(handle, session_settings);
  const bool set = PQresultStatus(settings) == PGRES_COMMAND_OK;
  PQclear(settings);
  PGresult* own = set ? PQexec(handle, "SELECT pg_backend_pid(), pg_is_in_recovery()") : nullptr;
  if (!own || PQresultStatus(own) != PGRES_TUPLES_OK) {
    const Error error{ErrorCode::unavailable, target.shown + ": " + trimmed(PQerrorMessage(handle))};
    PQclear(own);
    return error;
  }
  connection->pooled_ = std::to_string(PQbackendPID(handle)) != PQgetvalue(own, 0, 0);
  const bool standby = std::string_view(PQgetvalue(own, 0, 1)) == "t";
  PQclear(own);
  if (standby) return Error{ErrorCode::unavailable, target.shown + ": this server is a standby and takes no writes"};
  if (PQenterPipelineMode(handle) != 1) return Error{ErrorCode::internal, "libpq cannot pipeline"};
  return connection;
}

Connection::~Connection() {
  answers_.clear();
  PQfinish(handle_);
}

std::size_t Connection::send_with(Sql id, const Parameters& parameters) {
  const std::size_t number = next_++;
  if (error_) return number;
  Conductor* const conducted = conductor;
  if (conducted != nullptr) conducted->before(*this, id);
  const std::size_t index = static_cast<std::size_t>(id);
  const std::string name = "s" + std::to_string(index);
  const int count = static_cast<int>(parameters.types().size());
  const std::vector<const char*> values = parameters.values();
  const std::vector<int> lengths = parameters.lengths();
  const std::vector<int> formats(parameters.types().size(), 1);
  bool sent = true;
  if (pooled_) {
    // The settings of a session depend on the server connection that the pooler assigns. A failed transaction accepts
    // only its end.
    if (sent_.empty() && id != Sql::rollback) {
      sent = PQsendQueryParams(handle_, "SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)", 0,
                               nullptr, nullptr, nullptr, nullptr, 0) == 1;
      sent_.push_back({true, 0, -1});
    }
    sent = sent && PQsendQueryParams(handle_, statement_text(id, schema_).c_str(), count, parameters.types().data(),
                                     values.data(), lengths.data(), formats.data(), 1) == 1;
  } else {
    if (!prepared_[index]) {
      sent = PQsendPrepare(handle_, name.c_str(), statement_text(id, schema_).c_str(), count,
                           parameters.types().data()) == 1;
      sent_.push_back({true, 0, static_cast<int>(index)});
      prepared_[index] = true;
    }
    sent = sent && PQsendQueryPrepared(handle_, name.c_str(), count, values.data(), lengths.data(), formats.data(), 1);
  }
  sent_.push_back({false, number, -1});
  if (!sent) lose(trimmed(PQerrorMessage(handle_)));
  if (conducted != nullptr) {
    if (number == done_) answers_.clear();
    answers_.resize(next_ - done_);
    first_ = done_;
    if (!error_ && PQpipelineSync(handle_) != 1) lose(trimmed(PQerrorMessage(handle_)));
    if (!lost_) read_results();
    sent_.clear();
  }
  return number;
}

void Connection::finish() {
  const bool answered = sent_.empty() && answers_.size() == next_ - done_;  // one by one, by a conductor
  if (!answered) answers_.clear();
  answers_.resize(next_ - done_);
  first_ = std::exchange(done_, next_);
  if (answered && next_ > first_) return;
  if (!error_ && PQpipelineSync(handle_) != 1) lose(trimmed(PQerrorMessage(handle_)));
  if (!lost_) read_results();
  sent_.clear();
  if (error_) answers_.clear();
}

// Answers come in the order of the statements, each followed by an empty result, and the whole by a sync. After an
// error the server skips everything up to the sync.
void Connection::read_results() {
  for (const Sent& sent : sent_) {
    PGresult* result = PQgetResult(handle_);
    if (result == nullptr) {
      if (PQstatus(handle_) == CONNECTION_BAD) return lose(trimmed(PQerrorMessage(handle_)));
      continue;
    }
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE || status == PGRES_NONFATAL_ERROR) {
      if (sent.statement >= 0) prepared_[static_cast<std::size_t>(sent.statement)] = false;
      fail_with(result, sent.number);
      PQclear(result);
      if (PQstatus(handle_) == CONNECTION_BAD) return lose(trimmed(PQerrorMessage(handle_)));
    } else if (status == PGRES_PIPELINE_ABORTED || sent.preparation) {
      if (sent.statement >= 0 && status == PGRES_PIPELINE_ABORTED) {
        prepared_[static_cast<std::size_t>(sent.statement)] = false;
      }
      PQclear(result);
    } else {
      answers_[sent.number - first_] = Rows(result);
    }
    while (PGresult* more = PQgetResult(handle_)) {
      const bool sync = PQresultStatus(more) == PGRES_PIPELINE_SYNC;
      PQclear(more);
      if (sync) return;
    }
  }
  for (int tries = 0; tries < 2; ++tries) {
    PGresult* sync = PQgetResult(handle_);
    const bool seen = sync != nullptr && PQresultStatus(sync) == PGRES_PIPELINE_SYNC;
    PQclear(sync);
    if (seen) return;
    if (PQstatus(handle_) == CONNECTION_BAD) return lose(trimmed(PQerrorMessage(handle_)));
  }
}

Rows Connection::take(std::size_t number) {
  if (error_) return {};
  if (number < first_ || number - first_ >= answers_.size()) return {};
  return std::move(answers_[number - first_]);
}

void Connection::learn_row_types() {
  Rows rows = query(Sql::row_types, schema_);
  while (rows.next()) {
    for (std::size_t i = 0; i < row_types_.size(); ++i) {
      if (rows.text(0) == row_type_names[i]) row_types_[i] = static_cast<Oid>(rows.integer(1));
    }
  }
}

void Connection::script(const std::string& text) {
  if (error_) return;
  if (PQexitPipelineMode(handle_) != 1) return lose("statements are pending");
  PGresult* result = PQexec(handle_, text.c_str());
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY) fail_with(result, next_);
  PQclear(result);
  if (PQstatus(handle_) == CONNECTION_BAD || PQenterPipelineMode(handle_) != 1) {
    lose(trimmed(PQerrorMessage(handle_)));
  }
}

void Connection::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

void Connection::fail_with(const PGresult* result, std::size_t number) {
  if (error_) return;
  failed_ = number;
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  state_ = state ? state : "";
  const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  std::string message = primary ? primary : trimmed(PQresultErrorMessage(result));
  if (!state_.empty()) message += " (" + state_ + ")";
  fail({state_.empty() ? ErrorCode::unavailable : code_of(state_), "PostgreSQL: " + message});
}

void Connection::lose(const std::string& why) {
  lost_ = true;
  fail({ErrorCode::unavailable, "PostgreSQL: " + (why.empty() ? "the connection is gone" : why)});
}

bool Connection::usable() const { return !lost_ && PQstatus(handle_) == CONNECTION_OK; }

void Connection::restore() {
  if (!usable()) return;
  error_.reset();
  state_.clear();
  warned_ = false;
  answers_.clear();
  if (PQtransactionStatus(handle_) != PQTRANS_IDLE) {
    query(Sql::rollback);
    error_.reset();
    state_.clear();
    if (PQtransactionStatus(handle_) != PQTRANS_IDLE) lose("a transaction cannot be ended");
  }
}

}  // namespace cairn::postgres
