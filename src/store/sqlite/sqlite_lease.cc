// Leasing: an index seek finds the candidates by type and priority, then the common rule selects.
#include <algorithm>
#include <set>

#include "base/log.h"
#include "store/lease_holder.h"
#include "store/lease_order.h"
#include "store/projection.h"
#include "store/report_dead_letter.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/row_reading.h"

namespace cairn {

using sqlite::Query;
using sqlite::Sql;
using sqlite::Transaction;

// One lease request, inside its transaction.
class SqliteLease {
 public:
  SqliteLease(SqliteStore& store, const LeaseRequest& request)
      : store_(store), db_(*store.writer_), request_(request), at_(store.now()) {}

  std::vector<RunRow> run(Wakeup& wakeup) {
    for (const std::string& type : types()) gather(type, wakeup);
    std::vector<RunRow> leased;
    std::size_t bytes = 0;
    for (const LeaseCandidate& one : choose(std::move(candidates_), request_.max, slots_)) {
      if (db_.error() || bytes >= request_.bytes_max) break;
      if (auto row = lease(one, wakeup)) {
        const Timestamp due = attention_at(*row, at_);
        if (!wakeup.due || due < *wakeup.due) wakeup.due = due;
        bytes += lease_bytes(request_, *row);
        leased.push_back(std::move(*row));
      }
    }
    return leased;
  }

  // Whether the transaction must commit although nothing was leased.
  bool gave_up() const { return gave_up_; }

 private:
  std::set<std::string> types() {
    std::set<std::string> types(request_.types.begin(), request_.types.end());
    std::vector<std::string> prefixes = request_.prefixes;
    if (prefixes.empty() && types.empty()) prefixes.emplace_back("default.");
    for (const std::string& prefix : prefixes) {
      for (const Sql found : {Sql::pending_types, Sql::leased_types}) {
        Query rows = db_.query(found, prefix, prefix + sqlite::beyond_all_text);
        while (rows.next()) types.insert(rows.text(0));
      }
    }
    return types;
  }

  const RunTypeRow* rule_of(const std::string& type) {
    const auto& rules = store_.run_types();
    const auto found = rules.find(type);
    return found == rules.end() ? nullptr : &found->second;
  }

  void gather(const std::string& type, Wakeup& wakeup) {
    const RunTypeRow* const rule = rule_of(type);
    if (rule != nullptr && rule->paused) return;
    const auto max = static_cast<std::int64_t>(request_.max);
    add(type, db_.query(Sql::lapsed_runs, type, at_, max));
    if (rule != nullptr && is_limited(*rule)) {
      gather_limited(*rule, wakeup);
      return;
    }
    // Priority by priority, so runs that are due later are never visited.
    std::int64_t below = INT64_MAX;
    for (std::int64_t found = 0; found < max;) {
      std::optional<std::int64_t> priority;
      {
        Query row = db_.query(Sql::next_priority, type, below);
        if (row.next() && !row.is_null(0)) priority = row.integer(0);
      }
      if (!priority) break;
      found += add(type, db_.query(Sql::ready_runs, type, *priority, at_, max - found));
      if (*priority == INT64_MIN) break;
      below = *priority - 1;
    }
  }

  void gather_limited(const RunTypeRow& rule, Wakeup& wakeup) {
    slots_.add(rule, use_of(rule, wakeup));
    const auto asked = [&](const std::string& key) {
      return static_cast<std::int64_t>(
          std::min<std::size_t>(request_.max, static_cast<std::size_t>(slots_.left(rule.type, key))));
    };
    if (const std::int64_t max = asked(""); max > 0) {
      add(rule.type, db_.query(Sql::ready_keyless_runs, rule.type, at_, max));
    }
    std::vector<std::string> keys;
    {
      Query rows = db_.query(Sql::pending_keys, rule.type);
      while (rows.next()) keys.push_back(rows.text(0));
    }
    for (const std::string& key : keys) {
      const std::int64_t max = asked(key);
      if (max > 0) add(rule.type, db_.query(Sql::ready_keyed_runs, rule.type, key, at_, max));
    }
  }

  LeaseSlots::Use use_of(const RunTypeRow& rule, Wakeup& wakeup) {
    LeaseSlots::Use use;
    {
      Query rows = db_.query(Sql::live_leases, rule.type, at_);
      while (rows.next()) use.leased[rows.text(0)] = static_cast<int>(rows.integer(1));
    }
    if (!rule.rate) return use;
    const Timestamp begin = Timestamp::of_unix_ms(at_.unix_ms() - rule.rate_window.ms_up());
    db_.run(Sql::purge_starts, rule.type, begin);
    Query rows = db_.query(Sql::recent_starts, rule.type, begin);
    while (rows.next()) {
      const int count = static_cast<int>(rows.integer(1));
      use.started[rows.text(0)] = count;
      if (count < *rule.rate) continue;
      const Timestamp free = after(rows.time(2), rule.rate_window);
      if (!wakeup.due || free < *wakeup.due) wakeup.due = free;
    }
    return use;
  }

  std::int64_t add(const std::string& type, Query rows) {
    std::int64_t count = 0;
    const std::size_t line = line_of(request_, type).value_or(0);
    while (rows.next()) {
      candidates_.push_back({rows.integer(0), type, rows.text(3), rows.integer(1), rows.integer(2), line});
      ++count;
    }
    return count;
  }

  std::optional<RunRow> lease(const LeaseCandidate& one, Wakeup& wakeup) {
    const RunTypeRow* const rule = rule_of(one.type);
    const Timestamp until = after(at_, rule != nullptr && rule->lease ? *rule->lease : request_.length);
    std::optional<std::int64_t> attempts, backoff, cap;
    if (rule != nullptr && rule->attempts_max) attempts = *rule->attempts_max;
    if (rule != nullptr && rule->backoff) backoff = rule->backoff->ms_up();
    if (rule != nullptr && rule->cap) cap = rule->cap->ms_up();
    std::optional<RunRow> leased;
    {
      Query row =
          db_.query(Sql::lease_run, one.number, request_.worker, until, at_, attempts, backoff, cap, fence_step());
      if (row.next()) {
        leased = sql::read_run(row);
        row.next();
      }
    }
    if (!leased) return leased;
    if (const auto fault = db_.take_row_fault()) {
      fail_unreadable(one.number, *leased, fault->message, wakeup);
      return std::nullopt;
    }
    store_.run_event(one.number, "leased", leased->attempt, request_.worker, Json());
    if (rule != nullptr && rule->rate) db_.run(Sql::insert_start, one.type, at_, one.limit_key);
    return leased;
  }

  // Fails a run whose JSON cannot be read. No worker could receive it, and it must not block other runs.
  void fail_unreadable(std::int64_t number, const RunRow& run, const std::string& why, Wakeup& wakeup) {
    log_error("sqlite.run_unreadable", {ErrorCode::corrupt, why}, {{"run", run.id.value}, {"type", run.type}});
    const Json error = Json::object({{"code", "unreadable"}, {"message", why}});
    // `payload`, `result` or `error` may be unreadable; the last two are overwritten.
    db_.run(Sql::end_run, number, run.fence, "failed", Json(), error, std::optional<std::string>(why), at_);
    store_.run_event(number, "failed", run.attempt, request_.worker, error);
    DeadLetter letter;
    letter.instance = run.instance;
    letter.kind = "run";
    letter.envelope = Json::object({{"run", run.id.value}, {"type", run.type}});
    letter.reason = why;
    letter.node = made_by_store;
    store_.insert_dead_letter(letter, wakeup);
    gave_up_ = true;
    if (!run.instance) return;
    Failure failure{FailureClass::transport, "unreadable", why, Json(), std::max(1, run.attempt), run.step, ""};
    Message message;
    message.target = *run.instance;
    message.kind = Message::Kind::run_finished;
    message.body = Json::object({{"token", run.token.value}, {"result", Json()}, {"failure", to_json(failure)}});
    store_.send(message, wakeup);
  }

  SqliteStore& store_;
  sqlite::Connection& db_;
  const LeaseRequest& request_;
  Timestamp at_;
  LeaseSlots slots_;
  std::vector<LeaseCandidate> candidates_;
  bool gave_up_ = false;
};

Result<std::vector<RunRow>> SqliteStore::lease_runs(const LeaseRequest& request) {
  Wakeup wakeup;
  std::vector<RunRow> leased;
  {
    const std::lock_guard lock(writer_mutex_);
    if (auto refused = refusal()) return *refused;
    Transaction transaction(*writer_);
    SqliteLease lease(*this, request);
    leased = lease.run(wakeup);
    // Everything written so far may be dropped, so no commit and no sync is needed.
    if (!leased.empty() || lease.gave_up() || writer_->error()) {
      if (auto done = transaction.commit(); !done) return failed(done.error());
    }
  }
  tell(wakeup);
  return leased;
}

}  // namespace cairn
