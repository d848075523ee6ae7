#include <algorithm>
#include <utility>

#include "base/log.h"
#include "store/postgres/cluster/channel.h"
#include "store/postgres/cluster/hints.h"
#include "store/postgres/cluster/wakeup_text.h"
#include "store/postgres/migrate.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"

namespace cairn {

using postgres::Rows;
using postgres::Session;
using postgres::Sql;

namespace {

// The store closes. Connections that are opened ahead must not delay it.
constexpr std::chrono::milliseconds last_answers_within{1000};

}  // namespace

PostgresStore::PostgresStore(postgres::Target target, Clock& clock, Mode mode)
    : clock_(target.process_clock ? clock : server_clock_), mode_(mode), pool_(std::move(target)) {
  traits_ = {
      .shared = true, .writers = pool_.target().writers, .keeps_encoded = true, .piece_bytes_min = piece_bytes_default,
      .ends_runs_directly = !events_.runs};
  pool_.on_open([this](Connection& db) {
    const auto asked = std::chrono::steady_clock::now();
    Rows rows = db.query(Sql::server_now);
    if (rows.next()) server_clock_.set(rows.time(0), asked, std::chrono::steady_clock::now());
    db.learn_row_types();
  });
}

void PostgresStore::keep_events(const EventPolicy& policy) {
  Store::keep_events(policy);
  traits_.ends_runs_directly = !policy.runs;
}

PostgresStore::~PostgresStore() {
  pool_.stop(last_answers_within);
  hints_.reset();
  channel_.reset();
}

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(const std::string& url, Clock& clock, Mode mode) {
  CAIRN_TRY(postgres::Target target, postgres::read_url(url));
  const std::string shown = target.shown;
  std::unique_ptr<PostgresStore> store(new PostgresStore(std::move(target), clock, mode));
  CAIRN_TRY(postgres::Pool::Lease lease, store->pool_.take(postgres::Use::write));
  if (mode == Mode::own) {
    if (auto done = postgres::migrate(*lease); !done) return with_context(done.error(), shown);
    lease->learn_row_types();  // after the migrations
    if (Rows identity = lease->query(Sql::store_identity); identity.next()) store->identity_ = identity.integer(0);
    // Rows left by nodes that did not stop cleanly; they are no longer needed.
    lease->query(Sql::purge_writers, after(store->now(), Duration::of_seconds(-86'400)));
    if (lease->error()) return with_context(*lease->error(), shown);
  } else {
    auto schema = postgres::read_schema(*lease);
    if (!schema) return with_context(schema.error(), shown);
    if (*schema == 0) return Error{ErrorCode::not_found, "there is no store at " + shown};
  }
  return store;
}

std::optional<Error> PostgresStore::refusal() const {
  if (newer_schema_) return postgres::too_new();
  if (mode_ == Mode::own) return std::nullopt;
  return Error{ErrorCode::not_allowed, pool_.target().shown + " was opened read-only"};
}

void PostgresStore::read_clock(Connection& db) {
  if (pool_.target().process_clock || !server_clock_.wants_reading()) return;
  const auto asked = std::chrono::steady_clock::now();
  Rows rows = db.query(Sql::server_now);
  if (rows.next()) server_clock_.set(rows.time(0), asked, std::chrono::steady_clock::now());
}

Timestamp PostgresStore::now() { return whole_ms(clock_.now()); }

Result<int> PostgresStore::schema_version() {
  auto version = read<int>([](Connection& db) { return postgres::read_schema(db); });
  if (version || version.error().code == ErrorCode::unsupported) newer_schema_ = !version;
  return version;
}

// A store that is gone must not be taken for a new one.
std::optional<Error> PostgresStore::find_loss(Connection& db) {
  std::string why;
  if (!db.query(Sql::find_version_table, db.schema()).next()) {
    why = "the tables of the schema " + db.schema() + " are gone; nothing is written until they are back";
  } else if (Rows identity = db.query(Sql::store_identity); identity.next() && identity.integer(0) != identity_) {
    why = "the tables of the schema " + db.schema() +
          " were created again and are another store; restart this node to use it";
  }
  if (db.error()) return *db.error();
  if (why.empty()) {
    loss_said_ = false;
    return std::nullopt;
  }
  Error lost{ErrorCode::unavailable, "store_lost: " + why};
  if (!loss_said_.exchange(true)) log_error("store.tables_lost", lost);
  return lost;
}

// Statements fail in many ways when their tables are gone.
Error PostgresStore::explain(Connection& db, Error error) {
  if (error.code != ErrorCode::internal || mode_ != Mode::own || !db.usable()) return error;
  db.restore();
  const auto lost = find_loss(db);
  return lost ? *lost : error;
}

Result<std::vector<SettingAdvice>> PostgresStore::setting_advice() {
  return read<std::vector<SettingAdvice>>([](Connection& db) -> Result<std::vector<SettingAdvice>> {
    std::vector<SettingAdvice> list;
    Rows checksums = db.query(Sql::data_checksums);
    if (checksums.next() && checksums.text(0) != "on") {
      list.push_back({"PostgreSQL does not check its pages: data_checksums is off",
                      "stop the server and run `pg_checksums --enable`, so that damage of the disk is found"});
    }
    if (db.query(Sql::scans_runs).next()) {
      list.push_back({"programs that lease with SQL read the whole table workflow_run each time",
                      "create the index workflow_run_poll (docs/operations/postgresql.md)"});
    }
    return list;
  });
}

Result<void> PostgresStore::check_writable() {
  if (mode_ == Mode::own) {
    CAIRN_TRY(const auto lost, read<std::optional<Error>>(
                                   [this](Connection& db) -> Result<std::optional<Error>> { return find_loss(db); }));
    if (lost) return *lost;
  }
  CAIRN_TRY_VOID(schema_version());
  if (auto refused = refusal()) return *refused;
  CAIRN_TRY(const bool refused,
            read<bool>([](Connection& db) -> Result<bool> { return db.query(Sql::cannot_write).next(); }));
  if (refused) return Error{ErrorCode::unavailable, "PostgreSQL: the server is read-only or in recovery"};
  return {};
}

Result<void> PostgresStore::introduce(Session& session) {
  Connection& db = *session.connection;
  if (!session.writer.empty()) return {};
  session.writer = new_uuid(now());
  session.number = 0;
  const bool added =
      db.query(Sql::add_writer, session.writer, now(), postgres::newest_schema(), identity_).changed() == 1;
  if (added && !db.error()) return {};
  session.writer.clear();
  if (db.error()) return explain(db, *db.error());
  if (const auto lost = find_loss(db)) return *lost;
  if (!newer_schema_.exchange(true)) log_error("store.schema_newer", postgres::too_new());
  return postgres::too_new();
}

// The writer's row changes with the transaction. If the commit's answer is lost, that row tells what happened.
Result<PostgresStore::Written> PostgresStore::conclude(Session& session) {
  Connection& db = *session.connection;
  const auto asked = std::chrono::steady_clock::now();
  const bool reading = server_clock_.wants_reading();
  const std::int64_t number = session.number + 1;
  const std::size_t clock = reading ? db.send(Sql::server_now) : 0;
  const std::size_t move = db.send(Sql::move_writer, session.writer, number, now());
  db.clear_warning();
  db.send(Sql::commit);
  db.finish();
  if (!db.error()) {
    session.number = number;
    if (db.warned()) {
      return Error{ErrorCode::unavailable,
                   "outcome_unknown: the commit was not confirmed by the standby; it may or may not survive"};
    }
    if (reading) {
      Rows rows = db.take(clock);
      if (rows.next()) server_clock_.set(rows.time(0), asked, std::chrono::steady_clock::now());
    }
    return Written::yes;
  }
  // A statement that was cancelled or timed out (57014) has been answered: the transaction is rolled back. A retry
  // would take as long again.
  const bool answered = db.usable() && (!db.state().starts_with("57") || db.state() == "57014");
  if (!answered) return look_up(std::exchange(session.writer, ""), number);
  if (db.guard_failed(move)) {
    // The row is gone: it was idle for so long that another node removed it. The next write adds a new one.
    session.writer.clear();
    return Written::no;
  }
  if (db.may_repeat()) return Written::no;
  return *db.error();
}

// Uses a connection outside the pool. When the server goes away, every committing thread arrives here and still holds a
// place in the pool. Waiting for another place would be a deadlock.
Result<PostgresStore::Written> PostgresStore::look_up(const std::string& writer, std::int64_t number) {
  constexpr std::chrono::seconds patience{60};
  constexpr std::chrono::milliseconds pause{100};
  const auto until = std::chrono::steady_clock::now() + patience;
  do {
    if (pool_.given_up()) break;
    auto connection = pool_.open();
    if (!connection) continue;
    const postgres::Pool::Watched watched(pool_, **connection);
    // Waits for a transaction that is still running, and stops one that has not reached its guard yet.
    Rows rows = (*connection)->query(Sql::end_writer, writer);
    if ((*connection)->error()) continue;
    if (!rows.next()) break;
    const bool written = rows.integer(0) == number;
    log_warning("postgres.commit_looked_up", {{"committed", written}});
    return written ? Written::yes : Written::no;
  } while (std::chrono::steady_clock::now() < until && pool_.pause_before_trying(pause));
  return Error{ErrorCode::unavailable, "outcome_unknown: the answer to a commit was lost and the server does not say"};
}

void PostgresStore::watch(WakeupListener listener) {
  hints_.reset();
  channel_.reset();
  {
    const std::lock_guard lock(listener_mutex_);
    listener_ = std::move(listener);
    if (!listener_) return;
  }
  if (mode_ == Mode::own && !pool_.target().process_clock) {
    // Enough for commits, leases and reads, but never all connections, because others read meanwhile.
    const std::size_t readers = pool_.target().connections - pool_.target().writers;
    pool_.open_ahead(std::min(pool_.target().writers + 2, readers - 1),
                     [this](Connection& db) { rehearse_leases(db); });
    postgres::Channel::Callbacks callbacks;
    callbacks.hear = [this](const Wakeup& wakeup) { hear(wakeup); };
    callbacks.forget = [this] { forget_marks(); };
    callbacks.silent = [this] {
      log_warning("postgres.connections_distrusted",
                  {{"reason", "the server answers, but not on a connection that was open: all are opened again"}});
      pool_.distrust();
    };
    callbacks.now = [this] { return now(); };
    callbacks.given_up = [this] { return pool_.given_up(); };
    channel_ = std::make_unique<postgres::Channel>(pool_.target(), std::move(callbacks));
    if (!pool_.target().hints.empty()) {
      hints_ = std::make_unique<postgres::Hints>(
          pool_.target().hints, pool_.target().schema, [this](const Wakeup& wakeup) { hear(wakeup); },
          [this] { return now(); });
    }
  }
}

void PostgresStore::hear(const Wakeup& wakeup) {
  const std::lock_guard lock(listener_mutex_);
  if (listener_) listener_(wakeup);
}

void PostgresStore::tell(const Wakeup& wakeup) {
  if (postgres::says_nothing(wakeup)) return;
  if (channel_) channel_->tell(wakeup);
  if (hints_) hints_->tell(wakeup);
  hear(wakeup);
}

void PostgresStore::forget_marks() {
  const std::lock_guard lock(marks_mutex_);
  held_messages_.clear();
  held_timers_.clear();
}

}  // namespace cairn
