// Leasing. An index seek finds the candidates of each type and locks them, except those that another transaction has
// locked; then the common rule selects. Types with limits are leased by one node at a time, because their counts must
// hold until the commit.
#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/log.h"
#include "store/lease_holder.h"
#include "store/lease_order.h"
#include "store/postgres/runs/lease_deadlines.h"
#include "store/postgres/wire/lock_key.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"
#include "store/report_dead_letter.h"

namespace cairn {

using postgres::Column;
using postgres::Rows;
using postgres::Sql;

namespace {

// Sorts after every text with the same prefix, because types compare byte by byte.
constexpr const char* beyond_all_text = "\xf4\x8f\xbf\xbf";

// On each node, requests for at least this many runs select one at a time.
constexpr std::size_t large_question = 64;

// A request for several types selects without locks. If other transactions take its choice, it selects again without
// those.
constexpr int rounds_max = 5;

// A limited type is scanned in parts, so that a large backlog costs no more than a small one: first its first entries,
// and if all their keys are full, key by key.
constexpr std::size_t first_entries_min = 256;
constexpr std::size_t first_entries_max = 4096;
constexpr std::int64_t keys_at_once = 256;
constexpr int key_rounds_max = 16;
constexpr std::size_t keyed_runs_max = 8192;    // per scan
constexpr std::int64_t unkeyed_among = 20'000;  // entries that are searched for runs without a key

// When to look again for runs that another transaction had locked. No notification comes if that transaction fails.
constexpr Duration look_for_runs_after = Duration::of_seconds(1);

// A row of `lease_ready`, without the columns that all of them share.
RunRow read_ready(const Rows& rows) {
  RunRow row;
  row.id = {rows.is_null(3) ? rows.text(2) : rows.text(3)};
  row.priority = rows.integer(4);
  row.idempotency_key = rows.text(5);
  row.payload = rows.stored_json(6);
  row.error = rows.stored_json(7);
  row.last_error = rows.text(8);
  row.attempt = static_cast<int>(rows.integer(9));
  row.attempts_max = static_cast<int>(rows.integer(10));
  row.leases = static_cast<int>(rows.integer(11));
  row.fence = static_cast<std::uint64_t>(rows.integer(12));
  row.run_at = rows.time(13);
  sql::read_retries(rows, 14, row);
  if (!rows.is_null(19)) row.instance = InstanceId{rows.text(19)};
  row.token = {rows.text(20)};
  row.step = rows.text(21);
  row.created_at = rows.time(22);
  row.limit_key = rows.text(23);
  return row;
}

// One lease request, inside its transaction.
class Leasing {
 public:
  Leasing(postgres::Connection& db, const LeaseRequest& request, Timestamp at, bool run_events,
          postgres::KeysSeen& keys_seen)
      : db_(db),
        request_(request),
        at_(at),
        run_events_(run_events),
        keys_seen_(keys_seen),
        prefixes_(request.prefixes) {
    if (prefixes_.empty() && request.types.empty()) prefixes_ = {"default."};
  }

  std::vector<RunRow> run(Wakeup& wakeup) {
    if (load_types()) {
      postgres::tend_queue(db_, at_, wakeup);
      tended_ = true;
      load_types();
    }
    std::vector<RunRow> leased;
    if (types_.size() == 1 && rule_of(*types_.begin()) == nullptr) {
      leased = lease_only(*types_.begin());
    } else {
      leased = lease_several(wakeup);
    }
    if (db_.error()) return {};
    if (!leased.empty()) record(leased, wakeup);
    fail_unreadable();
    return leased;
  }

  const std::vector<postgres::LeasedTogether>& together() const { return together_; }
  const std::vector<DeadLetter>& letters() const { return letters_; }
  // Whether the transaction must commit although nothing was leased.
  bool tended() const { return tended_ || !unreadable_.empty(); }
  // Whether other transactions had available runs locked. Call it after `run`, before the transaction ends.
  bool was_passed_over() {
    if (skipped_ || !only_) return skipped_;
    Rows left = db_.take(*only_);
    return left.next();
  }
  // If fewer runs were leased than requested from the only type, asks whether others have some locked. It travels with
  // the next statements.
  void ask_for_the_rest(std::size_t leased) {
    if (alone_.empty() || leased >= request_.max) return;
    only_ = db_.send(Sql::left_in_queue, at_, alone_);
  }

 private:
  struct Unreadable {
    std::string uuid;
    RunRow run;
    std::string why;
  };

  const RunTypeRow* rule_of(const std::string& type) const {
    const auto found = rules_.find(type);
    return found == rules_.end() ? nullptr : &found->second;
  }

  // True if leases have expired or runs have become due and no node has handled them yet.
  bool load_types() {
    const std::size_t due = db_.send(Sql::anything_due, at_);
    const std::size_t rules = db_.send(Sql::list_run_types);
    std::vector<std::size_t> found;
    for (const std::string& prefix : prefixes_) {
      found.push_back(db_.send(Sql::queued_types, prefix, prefix + beyond_all_text));
    }
    db_.finish();
    for (RunTypeRow& rule : sql::read_run_types(db_.take(rules))) rules_.emplace(rule.type, std::move(rule));
    types_.insert(request_.types.begin(), request_.types.end());
    for (const std::size_t number : found) {
      Rows rows = db_.take(number);
      while (rows.next()) types_.insert(rows.text(0));
    }
    return db_.take(due).next();
  }

  bool is_free(const std::string& type) const {
    const RunTypeRow* rule = rule_of(type);
    return rule == nullptr || (!rule->paused && !is_limited(*rule));
  }

  std::vector<RunRow> lease_several(Wakeup& wakeup) {
    std::vector<RunRow> leased;
    for (const std::string& type : types_) {
      const RunTypeRow* rule = rule_of(type);
      if (rule != nullptr && is_limited(*rule) && !rule->paused) count_use(*rule, wakeup);
    }
    for (int round = 0; round < rounds_max && leased.size() < request_.max && !db_.error(); ++round) {
      // If others have some locked, more candidates are tried, but only the requested number is leased.
      const std::size_t wanted = request_.max - leased.size();
      const std::size_t tried = wanted + (round == 0 ? 0 : std::size_t{16} << (2 * round));
      gather(tried);
      const auto chosen = choose(std::exchange(candidates_, {}), tried, slots_);
      const std::size_t got = lease(chosen, wanted, leased);
      if (got >= std::min(wanted, chosen.size())) break;
      skipped_ = true;  // and stays so, even if a later round finds no other candidates
    }
    return leased;
  }

  // At most `max` of each type, and more where other transactions were faster.
  void gather(std::size_t max) {
    uuids_.clear();
    offered_.clear();
    const auto wanted = static_cast<std::int64_t>(max + elsewhere_.size());
    std::vector<std::size_t> asked;
    for (const std::string& type : types_) {
      if (is_free(type)) asked.push_back(db_.send(Sql::ready_runs, at_, type, wanted));
    }
    db_.finish();
    for (const std::size_t number : asked) add(db_.take(number));
    for (const std::string& type : types_) {
      const RunTypeRow* rule = rule_of(type);
      if (rule != nullptr && is_limited(*rule) && !rule->paused) gather_limited(*rule, max);
    }
  }

  // Counts the slots in use of a limited type. Its lock keeps the count valid until the commit.
  void count_use(const RunTypeRow& rule, Wakeup& wakeup) {
    const Timestamp begin = after(at_, Duration::of_ms(-rule.rate_window.ms_up()));
    db_.send(Sql::outbox_lock, postgres::lock_key("run type", db_.schema(), rule.type));
    if (rule.rate) db_.send(Sql::purge_starts, rule.type, begin);
    const std::size_t leased = rule.concurrency ? db_.send(Sql::live_leases, rule.type, at_) : 0;
    const std::size_t started = rule.rate ? db_.send(Sql::recent_starts, rule.type, begin) : 0;
    db_.finish();
    LeaseSlots::Use use;
    std::set<std::string>& used = used_keys_[rule.type];
    if (rule.concurrency) {
      Rows live = db_.take(leased);
      while (live.next()) {
        use.leased[live.text(0)] = static_cast<int>(live.integer(1));
        used.insert(live.text(0));
      }
    }
    if (rule.rate) {
      Rows starts = db_.take(started);
      while (starts.next()) {
        const int count = static_cast<int>(starts.integer(1));
        use.started[starts.text(0)] = count;
        used.insert(starts.text(0));
        if (count < *rule.rate) continue;
        // The window has room again when its oldest start leaves it.
        const Timestamp free = after(starts.time(2), rule.rate_window);
        if (!wakeup.due || free < *wakeup.due) wakeup.due = free;
      }
    }
    slots_.add(rule, std::move(use));
  }

  // Keys that are full, or that already have as many candidates as they have room for.
  Column<std::string> full_keys(const std::string& type) {
    Column<std::string> full;
    for (const std::string& key : used_keys_[type]) {
      if (offered_[{type, key}] >= slots_.left(type, key)) full.add(key);
    }
    return full;
  }

  // The first available runs of a limited type. A flood of one key does not hide the others.
  void gather_limited(const RunTypeRow& rule, std::size_t max) {
    const auto entries = std::clamp(4 * (max + elsewhere_.size()), first_entries_min, first_entries_max);
    Rows first =
        db_.query(Sql::ready_limited_runs, at_, rule.type, static_cast<std::int64_t>(entries), full_keys(rule.type));
    const bool all = first.size() < entries;
    const std::size_t found = add(std::move(first));
    if (all || found >= max || db_.error()) return;
    gather_by_key(rule, max - found);
  }

  void gather_by_key(const RunTypeRow& rule, std::size_t max) {
    const auto limit =
        static_cast<std::size_t>(std::max(1, std::min(rule.concurrency.value_or(std::numeric_limits<int>::max()),
                                                      rule.rate.value_or(std::numeric_limits<int>::max()))));
    const auto each = static_cast<std::int64_t>(
        std::clamp<std::size_t>(std::min(max, limit) + elsewhere_.size(), 1, keyed_runs_max / keys_at_once));
    const Column<std::string> full = full_keys(rule.type);
    const std::string start = keys_seen_.of(rule.type);
    std::string after_key = start;
    bool around = start.empty();
    std::size_t found = 0;
    for (int round = 0; round < key_rounds_max && found < max && !db_.error(); ++round) {
      Rows rows = db_.query(Sql::ready_keyed_runs, at_, rule.type, each, full, keys_at_once, after_key);
      std::set<std::string> keys;
      while (rows.next()) keys.insert(rows.text(2));
      rows.rewind();
      found += add(std::move(rows));
      if (keys.size() == static_cast<std::size_t>(keys_at_once)) {
        after_key = *keys.rbegin();
      } else {
        after_key.clear();
        if (std::exchange(around, true)) break;
      }
    }
    keys_seen_.set(rule.type, after_key);
    if (found < max && slots_.left(rule.type, "") > 0) {
      add(db_.query(Sql::ready_unkeyed_runs, at_, rule.type, static_cast<std::int64_t>(max), unkeyed_among));
    }
  }

  // Answers how many of the rows can be leased within the limits.
  std::size_t add(Rows rows) {
    std::size_t count = 0;
    while (rows.next()) {
      if (rows.is_null(0)) continue;
      const std::int64_t number = rows.integer(0);
      const std::string type = rows.text(1);
      if (elsewhere_.contains(number)) continue;
      if (const RunTypeRow* rule = rule_of(type); rule != nullptr && rule->paused) continue;
      if (!uuids_.emplace(number, rows.text(5)).second) continue;
      const std::string key = rows.text(2);
      candidates_.push_back(
          {number, type, key, rows.integer(3), rows.time(4).unix_ms(), line_of(request_, type).value_or(0)});
      if (const auto used = used_keys_.find(type); used != used_keys_.end()) {
        used->second.insert(key);
        if (offered_[{type, key}]++ >= slots_.left(type, key)) continue;
      }
      ++count;
    }
    return count;
  }

  // Leases the first `wanted` runs that no other transaction has, and answers how many.
  std::size_t lease(const std::vector<LeaseCandidate>& chosen, std::size_t wanted, std::vector<RunRow>& leased) {
    if (chosen.empty() || db_.error()) return 0;
    Column<postgres::Uuid> ids;
    Column<std::int64_t> backoffs, caps;
    Column<Timestamp> until;
    Column<int> attempts;
    std::unordered_map<std::int64_t, std::size_t> order;
    for (const LeaseCandidate& one : chosen) {
      const RunTypeRow* rule = rule_of(one.type);
      order.emplace(one.number, order.size());
      ids.add(postgres::Uuid{uuids_.at(one.number)});
      until.add(after(at_, rule != nullptr && rule->lease ? *rule->lease : request_.length));
      attempts.add(rule != nullptr ? rule->attempts_max : std::nullopt);
      backoffs.add(rule != nullptr && rule->backoff ? std::optional(rule->backoff->ms_up()) : std::nullopt);
      caps.add(rule != nullptr && rule->cap ? std::optional(rule->cap->ms_up()) : std::nullopt);
    }
    Rows rows = db_.query(Sql::lease_chosen, ids, at_, request_.worker, until, attempts, backoffs, caps,
                          static_cast<std::int64_t>(wanted), fence_step());
    Column<postgres::RowPlace> queued;
    Column<std::string> rated_types, rated_keys;
    std::vector<std::pair<std::size_t, RunRow>> ordered;
    ordered.reserve(rows.size());
    std::set<std::int64_t> got;
    while (rows.next()) {
      const std::int64_t number = rows.integer(sql::run_number_column);
      got.insert(number);
      queued.add(postgres::RowPlace{rows.integer(sql::run_number_column + 1)});
      RunRow row = sql::read_run(rows);
      if (auto why = rows.take_unreadable()) {
        unreadable_.push_back({uuids_.at(number), std::move(row), why->message});
        continue;
      }
      if (const RunTypeRow* rule = rule_of(row.type); rule != nullptr && rule->rate) {
        rated_types.add(row.type);
        rated_keys.add(row.limit_key);
      }
      ordered.emplace_back(order[number], std::move(row));
    }
    if (rows.fault()) db_.fail(*rows.fault());
    if (!queued.empty()) db_.send(Sql::leave_queue, queued);
    if (!rated_types.empty()) db_.send(Sql::insert_starts, rated_types, rated_keys, at_);
    for (const LeaseCandidate& one : chosen) {
      if (got.contains(one.number)) continue;
      elsewhere_.insert(one.number);
      slots_.give_back(one.type, one.limit_key);
    }
    std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    leased.reserve(leased.size() + ordered.size());
    for (auto& [at, row] : ordered) leased.push_back(std::move(row));
    return got.size();
  }

  // There is only one type, and it has no rules, so nothing must be selected.
  std::vector<RunRow> lease_only(const std::string& type) {
    std::vector<RunRow> leased;
    alone_ = type;
    lease_ready(type, leased);
    return leased;
  }

  void note_lease(RunRow& row, const std::string& type) const {
    row.type = type;
    row.status = RunStatus::leased;
    row.leased_by = request_.worker;
    row.lease_until = after(at_, request_.length);
    row.updated_at = at_;
  }

  void lease_ready(const std::string& type, std::vector<RunRow>& leased) {
    const Timestamp until = after(at_, request_.length);
    Rows rows = db_.query(Sql::lease_ready, at_, type, static_cast<std::int64_t>(request_.max), request_.worker, until,
                          fence_step());
    leased.reserve(rows.size());
    Column<postgres::RowPlace> queued;
    while (rows.next()) {
      queued.add(postgres::RowPlace{rows.integer(0)});
      RunRow row = read_ready(rows);
      note_lease(row, type);
      if (auto why = rows.take_unreadable()) {
        unreadable_.push_back({rows.text(2), std::move(row), why->message});
      } else {
        leased.push_back(std::move(row));
      }
    }
    if (rows.fault()) db_.fail(*rows.fault());
    if (!queued.empty()) db_.send(Sql::leave_queue, queued);
  }

  // Writes the other rows about the leases.
  void record(const std::vector<RunRow>& leased, Wakeup& wakeup) {
    postgres::LeaseDeadlines leases;
    Column<postgres::Uuid> ids;
    Column<int> attempts;
    for (const RunRow& row : leased) {
      std::string uuid = postgres::run_uuid(row.id);
      if (run_events_) {
        ids.add(postgres::Uuid{uuid});
        attempts.add(row.attempt);
      }
      const Timestamp due = attention_at(row, row.updated_at);
      leases.add(row.type, {std::move(uuid), row.fence, row.attempt}, due, wakeup);
    }
    if (run_events_) db_.send(Sql::insert_like_events, ids, "leased", at_, request_.worker, attempts);
    together_ = leases.send(db_);
  }

  // Fails runs whose JSON cannot be read. No worker could receive them, and they must not block other runs.
  void fail_unreadable() {
    for (const auto& [uuid, run, why] : unreadable_) {
      log_error("postgres.run_unreadable", {ErrorCode::corrupt, why}, {{"run", run.id.value}, {"type", run.type}});
      Column<postgres::Uuid> only;
      only.add(postgres::Uuid{uuid});
      const Json error = Json::object({{"code", "unreadable"}, {"message", why}});
      db_.send(Sql::act_as_worker, request_.worker);  // the holder of the lease
      db_.send(Sql::fail_unreadable_runs, only, postgres::Jsonb{error}, why);
      DeadLetter letter;
      letter.instance = run.instance;
      letter.kind = "run";
      letter.envelope = Json::object({{"run", run.id.value}, {"type", run.type}, {"payload", run.payload}});
      letter.reason = why;
      letter.node = made_by_store;
      letters_.push_back(std::move(letter));
    }
  }

  postgres::Connection& db_;
  const LeaseRequest& request_;
  const Timestamp at_;
  const bool run_events_;
  postgres::KeysSeen& keys_seen_;
  std::vector<std::string> prefixes_;
  std::set<std::string> types_;
  std::map<std::string, RunTypeRow> rules_;
  LeaseSlots slots_;
  std::map<std::string, std::set<std::string>> used_keys_;      // in use or seen, by limited type
  std::map<std::pair<std::string, std::string>, int> offered_;  // candidates of a limited type and key
  std::vector<LeaseCandidate> candidates_;
  std::unordered_map<std::int64_t, std::string> uuids_;  // of the candidates, by number
  std::unordered_set<std::int64_t> elsewhere_;           // selected, but another transaction was faster
  std::vector<postgres::LeasedTogether> together_;
  std::vector<Unreadable> unreadable_;
  std::vector<DeadLetter> letters_;
  std::string alone_;                // the only type, without rules
  std::optional<std::size_t> only_;  // the question whether others have runs of it locked
  bool skipped_ = false;
  bool tended_ = false;
};

}  // namespace

Result<std::vector<RunRow>> PostgresStore::lease_runs(const LeaseRequest& request) {
  if (auto refused = refusal()) return *refused;
  Wakeup wakeup;
  bool passed_over = false;
  std::vector<postgres::LeasedTogether> together;
  // If two large requests of this node ran at the same time, the second would visit everything that the first has
  // locked.
  std::unique_lock one_by_one(leasing_mutex_, std::defer_lock);
  if (request.max >= large_question) one_by_one.lock();
  const auto look_again = [this] {
    Wakeup again;  // for this node only: others look for themselves
    again.due = after(now(), look_for_runs_after);
    hear(again);
  };
  // A lease whose answer is lost expires by itself, so no look-up is needed.
  auto leased = read<std::vector<RunRow>>([&](Connection& db) -> Result<std::vector<RunRow>> {
    wakeup = {};
    db.send(Sql::begin);
    read_clock(db);
    forget_leases(db);
    Leasing leasing(db, request, now(), pool_.target().run_events, keys_seen_);
    auto runs = leasing.run(wakeup);
    for (const DeadLetter& letter : leasing.letters()) insert_dead_letter(db, letter, wakeup);
    leasing.ask_for_the_rest(runs.size());
    db.query(runs.empty() && !leasing.tended() ? Sql::rollback : Sql::commit);
    passed_over = leasing.was_passed_over();
    together = leasing.together();
    return runs;
  });
  if (one_by_one) one_by_one.unlock();
  // No notification comes when runs locked by others are free, or when a lease has failed.
  if (!leased || passed_over) look_again();
  if (!leased) return leased;
  for (const postgres::LeasedTogether& batch : together) leases_.leased(batch);
  tell(wakeup);
  return leased;
}

void PostgresStore::rehearse_leases(Connection& db) {
  if (db.pooled()) return;  // a pooler keeps no plans
  const Timestamp at = now();
  const std::string type;  // a type without runs
  const Column<postgres::Uuid> runs;
  db.send(Sql::begin);
  db.send(Sql::anything_due, at);
  db.send(Sql::list_run_types);
  db.send(Sql::lease_ready, at, type, std::int64_t{0}, type, at, fence_step());
  db.send(Sql::leave_queue, Column<postgres::RowPlace>());
  db.send(Sql::end_succeeded_runs, runs, Column<std::int64_t>(), Column<postgres::Jsonb>(), at);
  db.query(Sql::rollback);
}

}  // namespace cairn
