// Leasing: candidates by type, each found by a seek in an index and locked unless somebody else has it, then
// the common rule. Types with limits are leased by one node at a time: their counts must hold until the commit.
#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

#include "store/lease_holder.h"
#include "store/lease_order.h"
#include "store/postgres/lease_list.h"
#include "store/postgres/lock_key.h"
#include "store/postgres/row_reading.h"
#include "store/postgres/run_packs.h"
#include "store/postgres/transaction.h"
#include "store/projection.h"

namespace cairn {

using postgres::Column;
using postgres::Rows;
using postgres::Sql;

namespace {

// Greater than every text that begins with the same prefix: types are compared byte by byte.
constexpr const char* beyond_all_text = "\xf4\x8f\xbf\xbf";

constexpr const char* lock_not_available = "55P03";  // SQLSTATE

// A question for as many is answered from packs; a smaller one opens them.
constexpr std::size_t large_question = 64;

// A row of `lease_ready`, but for what all of them have in common.
RunRow read_ready(const Rows& rows) {
  RunRow row;
  row.id = {rows.is_null(3) ? rows.text(2) : rows.text(3)};
  row.priority = rows.integer(4);
  row.idempotency_key = rows.text(5);
  row.payload = rows.json(6);
  row.error = rows.json(7);
  row.last_error = rows.text(8);
  row.attempt = static_cast<int>(rows.integer(9));
  row.attempts_max = static_cast<int>(rows.integer(10));
  row.leases = static_cast<int>(rows.integer(11));
  row.fence = static_cast<std::uint64_t>(rows.integer(12));
  row.run_at = rows.time(13);
  postgres::read_retries(rows, 14, row);
  if (!rows.is_null(19)) row.instance = InstanceId{rows.text(19)};
  row.token = {rows.text(20)};
  row.step = rows.text(21);
  row.created_at = rows.time(22);
  row.limit_key = rows.text(23);
  return row;
}

// One request, inside its transaction.
class Leasing {
 public:
  // `answered` is called when the next question may begin. `by_pack`: unless somebody kept one of a pack's runs locked.
  Leasing(postgres::Connection& db, const LeaseRequest& request, Timestamp at, bool run_events, bool by_pack,
          postgres::LeasesUnderWay& under_way, std::function<void()> answered)
      : db_(db),
        request_(request),
        at_(at),
        run_events_(run_events),
        by_pack_(by_pack),
        under_way_(under_way),
        answered_(std::move(answered)),
        prefixes_(request.prefixes),
        packs_(db, at) {
    if (prefixes_.empty() && request.types.empty()) prefixes_ = {"default."};
  }

  std::vector<RunRow> run(Wakeup& wakeup) {
    if (load_types()) {
      postgres::tend_leases(db_, at_, wakeup);
      tended_ = true;
      load_types();
    }
    if (types_.size() == 1 && rule_of(*types_.begin()) == nullptr) return lease_only(*types_.begin(), wakeup);
    for (const std::string& type : types_) {
      if (const RunTypeRow* rule = rule_of(type); rule != nullptr && is_limited(*rule) && !rule->paused) {
        gather_limited(*rule, wakeup);
      }
    }
    open_packs(0, wakeup);
    gather();
    // What stands in the queue may be in other hands.
    if (candidates_.size() < request_.max && open_packs(request_.max, wakeup)) gather();
    return lease(choose(std::move(candidates_), request_.max, slots_), wakeup);
  }

  const std::vector<postgres::LeasedTogether>& together() const { return together_; }
  // Whether there is something to commit when nothing was leased.
  bool tended() const { return tended_; }

 private:
  // Where the run and its entry in the queue lie.
  struct Places {
    std::int64_t run;
    std::int64_t queued;
  };

  const RunTypeRow* rule_of(const std::string& type) const {
    const auto found = rules_.find(type);
    return found == rules_.end() ? nullptr : &found->second;
  }

  // True when leases have ended that nobody has looked at.
  bool load_types() {
    const std::size_t due = db_.send(Sql::leases_due, at_);
    const std::size_t rules = db_.send(Sql::list_run_types);
    std::vector<std::size_t> found, packed;
    for (const std::string& prefix : prefixes_) {
      found.push_back(db_.send(Sql::queued_types, prefix, prefix + beyond_all_text));
      packed.push_back(db_.send(Sql::packed_types, prefix, prefix + beyond_all_text));
    }
    if (!request_.types.empty()) packed.push_back(db_.send(Sql::packed_among, postgres::names(request_.types)));
    db_.finish();
    for (RunTypeRow& rule : postgres::read_run_types(db_.take(rules))) rules_.emplace(rule.type, std::move(rule));
    types_.insert(request_.types.begin(), request_.types.end());
    for (const std::size_t number : packed) {
      Rows rows = db_.take(number);
      while (rows.next()) packed_.insert(rows.text(0));
    }
    types_.insert(packed_.begin(), packed_.end());
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

  // So that the most urgent of each type have entries of their own, and `more` of those in packs. True: some got one.
  bool open_packs(std::size_t more, Wakeup& wakeup) {
    bool opened = false;
    for (const std::string& type : packed_) {
      if (is_free(type)) opened |= open_packs(type, static_cast<std::int64_t>(request_.max), more, wakeup);
    }
    return opened;
  }
  bool open_packs(const std::string& type, std::int64_t wanted, std::size_t more, Wakeup& wakeup) {
    if (!packed_.contains(type)) return false;
    Rows opened = db_.query(Sql::open_packs, type, at_, wanted, static_cast<std::int64_t>(more));
    if (!opened.next() || opened.integer(0) == 0) return false;
    wakeup.runs = true;  // whoever found them locked looks again
    tended_ = true;
    return true;
  }

  void gather() {
    const auto max = static_cast<std::int64_t>(request_.max);
    std::vector<std::size_t> asked;
    for (const std::string& type : types_) {
      if (is_free(type)) asked.push_back(db_.send(Sql::ready_runs, at_, type, max));
    }
    db_.finish();
    for (const std::size_t number : asked) add(db_.take(number));
  }

  void gather_limited(const RunTypeRow& rule, Wakeup& wakeup) {
    const Timestamp begin = after(at_, Duration::of_ms(-rule.rate_window.ms_up()));
    db_.send(Sql::outbox_lock, postgres::lock_key("run type", db_.schema(), rule.type));
    if (rule.rate) db_.send(Sql::purge_starts, rule.type, begin);
    open_packs(rule.type, std::numeric_limits<std::int64_t>::max(), 0,
               wakeup);  // which keys they have stands in the runs
    const std::size_t leased = db_.send(Sql::live_leases, rule.type, at_);
    const std::size_t started = db_.send(Sql::recent_starts, rule.type, begin);
    const std::size_t ready =
        db_.send(Sql::ready_limited_runs, at_, rule.type, static_cast<std::int64_t>(request_.max));
    db_.finish();
    LeaseSlots::Use use;
    Rows live = db_.take(leased);
    while (live.next()) use.leased[live.text(0)] = static_cast<int>(live.integer(1));
    Rows starts = db_.take(started);
    while (rule.rate && starts.next()) {
      const int count = static_cast<int>(starts.integer(1));
      use.started[starts.text(0)] = count;
      if (count < *rule.rate) continue;
      // The window opens again when the oldest start that fills it leaves.
      const Timestamp free = after(starts.time(2), rule.rate_window);
      if (!wakeup.due || free < *wakeup.due) wakeup.due = free;
    }
    slots_.add(rule, std::move(use));
    add(db_.take(ready));
  }

  void add(Rows rows) {
    while (rows.next()) {
      const std::string type = rows.text(1);
      if (const RunTypeRow* rule = rule_of(type); rule != nullptr && rule->paused) continue;
      if (!places_.emplace(rows.integer(0), Places{rows.integer(5), rows.integer(6)}).second) continue;
      candidates_.push_back({rows.integer(0), type, rows.text(2), rows.integer(3), rows.time(4).unix_ms(),
                             line_of(request_, type).value_or(0)});
    }
  }

  std::vector<RunRow> lease(const std::vector<LeaseCandidate>& chosen, Wakeup& wakeup) {
    if (chosen.empty() || db_.error()) return {};
    Column<postgres::RowPlace> places, queued;
    Column<std::int64_t> backoffs, caps;
    Column<Timestamp> until;
    Column<int> attempts;
    Column<std::string> rated_types, rated_keys;
    std::unordered_map<std::int64_t, std::size_t> order;
    for (const LeaseCandidate& one : chosen) {
      const RunTypeRow* rule = rule_of(one.type);
      order.emplace(one.number, order.size());
      const Places& at = places_.at(one.number);
      places.add(postgres::RowPlace{at.run});
      queued.add(postgres::RowPlace{at.queued});
      until.add(after(at_, rule != nullptr && rule->lease ? *rule->lease : request_.length));
      attempts.add(rule != nullptr ? rule->attempts_max : std::nullopt);
      backoffs.add(rule != nullptr && rule->backoff ? std::optional(rule->backoff->ms_up()) : std::nullopt);
      caps.add(rule != nullptr && rule->cap ? std::optional(rule->cap->ms_up()) : std::nullopt);
      if (rule != nullptr && rule->rate) {
        rated_types.add(one.type);
        rated_keys.add(one.limit_key);
      }
    }
    if (!rated_types.empty()) db_.send(Sql::insert_starts, rated_types, rated_keys, at_);
    db_.send(Sql::leave_queue, queued);
    Rows rows =
        db_.query(Sql::lease_chosen, places, at_, request_.worker, until, attempts, backoffs, caps, fence_step());
    std::vector<std::pair<std::size_t, RunRow>> ordered;
    ordered.reserve(rows.size());
    while (rows.next()) {
      ordered.emplace_back(order[rows.integer(postgres::run_number_column)], postgres::read_run(rows));
    }
    if (rows.fault()) db_.fail(*rows.fault());
    std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<RunRow> leased;
    leased.reserve(ordered.size());
    for (auto& [at, row] : ordered) leased.push_back(std::move(row));
    record(leased, wakeup);
    return leased;
  }

  // The only type there is, and it has no rules: nothing to choose from.
  std::vector<RunRow> lease_only(const std::string& type, Wakeup& wakeup) {
    std::vector<RunRow> leased;
    if (!packed_.contains(type)) {
      lease_ready(type, std::nullopt, leased);
    } else if (by_pack_ && request_.max >= large_question) {
      lease_with_packs(type, leased, wakeup);
    } else {
      open_packs(type, static_cast<std::int64_t>(request_.max), 0, wakeup);
      lease_ready(type, std::nullopt, leased);
      // What stands in the queue may be in other hands.
      const std::size_t missing = request_.max - leased.size();
      if (missing > 0 && open_packs(type, static_cast<std::int64_t>(request_.max), missing, wakeup)) {
        lease_ready(type, std::nullopt, leased);
      }
    }
    if (leased.empty() || db_.error()) return {};
    record(leased, wakeup);
    return leased;
  }

  // Entries and packs in their order.
  void lease_with_packs(const std::string& type, std::vector<RunRow>& leased, Wakeup& wakeup) {
    while (leased.size() < request_.max && !db_.error()) {
      const auto passed = passed_over(type);
      Rows first = db_.query(Sql::first_in_queue, at_, type, passed.first, passed.last);
      if (!first.next()) break;
      const postgres::QueueKey pack{first.integer(3), first.time(4), first.integer(5)};
      std::optional<postgres::QueueKey> entry;
      if (!first.is_null(0)) entry = postgres::QueueKey{first.integer(0), first.time(1), first.integer(2)};
      const std::size_t before = leased.size();
      // As far as the pack itself: a run that left it has its key when it was the first.
      if (entry && !(pack < *entry)) {
        lease_ready(type, pack, leased);
        if (leased.size() > before) continue;
        entry.reset();  // those before the pack are in other hands
      }
      // A pack of which all were cancelled is used up without a lease, and others stand behind it.
      const bool used_up = lease_packed(type, entry, leased, wakeup);
      tended_ |= used_up;
      if (!used_up && leased.size() == before) break;  // and so are the packs
    }
    if (leased.size() < request_.max) lease_ready(type, std::nullopt, leased);
  }

  // True: a pack is used up.
  bool lease_packed(const std::string& type, const std::optional<postgres::QueueKey>& up_to,
                    std::vector<RunRow>& leased, Wakeup& wakeup) {
    if (packs_.take(type, request_.max - leased.size(), up_to) > 0) {
      RunRow like;
      note_lease(like, type);
      Rows rows = packs_.lease(request_.worker, *like.lease_until);
      answered_();
      packs_.read(std::move(rows), like, leased);
    }
    return packs_.settle(wakeup);
  }

  void note_lease(RunRow& row, const std::string& type) const {
    row.type = type;
    row.status = RunStatus::leased;
    row.leased_by = request_.worker;
    row.lease_until = after(at_, request_.length);
    row.updated_at = at_;
  }

  // What another question of this node has leased and not committed yet, as parameters.
  struct PassedOver {
    std::optional<postgres::QueueKey> first, last;
  };
  PassedOver passed_over(const std::string& type) const {
    if (const auto other = under_way_.of(type)) return {other->first, other->last};
    return {};
  }

  // Entries of the queue up to the first pack.
  void lease_ready(const std::string& type, const std::optional<postgres::QueueKey>& pack,
                   std::vector<RunRow>& leased) {
    const Timestamp until = after(at_, request_.length);
    const auto other = under_way_.of(type);
    const PassedOver passed = passed_over(type);
    Rows rows = db_.query(Sql::lease_ready, at_, type, static_cast<std::int64_t>(request_.max - leased.size()),
                          request_.worker, until, passed.first, passed.last, pack, fence_step());
    hand_on(type, rows, other);
    leased.reserve(leased.size() + rows.size());
    Column<postgres::RowPlace> queued;
    while (rows.next()) {
      queued.add(postgres::RowPlace{rows.integer(0)});
      note_lease(leased.emplace_back(read_ready(rows)), type);
    }
    if (rows.fault()) db_.fail(*rows.fault());
    if (!queued.empty()) db_.send(Sql::leave_queue, queued);
  }

  // The next question may begin: what this one has leased it passes over. The rows come in the order of the queue.
  void hand_on(const std::string& type, Rows& rows, const std::optional<postgres::LeasesUnderWay::Stretch>& other) {
    std::vector<postgres::QueueKey> keys;
    keys.reserve(rows.size());
    while (rows.next()) keys.push_back({rows.integer(4), rows.time(13), rows.integer(1)});
    rows.rewind();
    if (!keys.empty()) stretch_ = under_way_.begin(postgres::LeasesUnderWay::stretch_of(type, keys, other));
    answered_();
  }

  // What is written about them besides.
  void record(const std::vector<RunRow>& leased, Wakeup& wakeup) {
    postgres::LeaseList leases;
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

  postgres::Connection& db_;
  const LeaseRequest& request_;
  const Timestamp at_;
  const bool run_events_;
  const bool by_pack_;
  postgres::LeasesUnderWay& under_way_;
  const std::function<void()> answered_;
  postgres::LeasesUnderWay::Guard stretch_;
  std::vector<std::string> prefixes_;
  std::set<std::string> types_;
  std::set<std::string> packed_;  // those of them that have packs
  std::map<std::string, RunTypeRow> rules_;
  LeaseSlots slots_;
  std::vector<LeaseCandidate> candidates_;
  std::unordered_map<std::int64_t, Places> places_;  // by number
  std::vector<postgres::LeasedTogether> together_;
  postgres::RunPacks packs_;
  bool tended_ = false;
};

}  // namespace

Result<std::vector<RunRow>> PostgresStore::lease_runs(const LeaseRequest& request) {
  if (auto refused = refusal()) return *refused;
  Wakeup wakeup;
  std::vector<postgres::LeasedTogether> together;
  // Of two large questions of this node at once the second would look at everything that the first has locked.
  std::unique_lock one_by_one(leasing_mutex_, std::defer_lock);
  if (request.max >= large_question) one_by_one.lock();
  // A lease whose answer is lost ends by itself: nothing has to be looked up.
  const auto lease = [&](Connection& db, bool by_pack) {
    wakeup = {};
    db.send(Sql::begin);
    forget_leases(db);
    Leasing leasing(db, request, now(), pool_.target().run_events, by_pack, leases_under_way_, [&] {
      if (one_by_one) one_by_one.unlock();
    });
    auto runs = leasing.run(wakeup);
    db.query(runs.empty() && !leasing.tended() ? Sql::rollback : Sql::commit);
    together = leasing.together();
    return runs;
  };
  CAIRN_TRY(auto leased, read<std::vector<RunRow>>([&](Connection& db) -> Result<std::vector<RunRow>> {
              auto runs = lease(db, true);
              if (db.state() != lock_not_available) return runs;
              db.restore();
              return lease(db, false);
            }));
  if (one_by_one) one_by_one.unlock();
  for (const postgres::LeasedTogether& batch : together) leases_.leased(batch);
  tell(wakeup);
  return leased;
}

void PostgresStore::rehearse_leases(Connection& db) {
  if (db.pooled()) return;  // nothing is kept there
  const Timestamp at = now();
  const std::string type;  // of no run
  constexpr std::string_view of_no_run = "00000000-0000-0000-0000-000000000000";
  const std::optional<postgres::QueueKey> nowhere;
  const Column<postgres::Uuid> runs;
  db.send(Sql::begin);
  db.send(Sql::leases_due, at);
  db.send(Sql::list_run_types);
  db.send(Sql::packed_among, postgres::names({type}));
  db.send(Sql::open_packs, type, at, std::int64_t{0}, std::int64_t{0});
  db.send(Sql::first_in_queue, at, type, nowhere, nowhere);
  db.send(Sql::lease_ready, at, type, std::int64_t{0}, type, at, nowhere, nowhere, nowhere);
  db.send(Sql::take_packs, at, type, std::int64_t{0}, nowhere, std::int64_t{0});
  db.send(Sql::lease_packed, at, runs, type, at);
  db.send(Sql::one_of_pack, postgres::Uuid{of_no_run});
  db.send(Sql::leave_packs, Column<postgres::RowPlace>());
  db.send(Sql::end_succeeded_runs, runs, Column<std::int64_t>(), Column<postgres::Jsonb>(), at);
  db.query(Sql::rollback);
}

Result<void> PostgresStore::put_run_type(const RunTypeRow& row) {
  const auto ms = [](const std::optional<Duration>& length) {
    return length ? std::optional(length->ms_up()) : std::nullopt;
  };
  CAIRN_TRY_VOID(write<bool>([&](Connection& db) -> Result<bool> {
    db.send(Sql::put_run_type, row.type, ms(row.lease), row.attempts_max, ms(row.backoff), ms(row.cap), row.paused,
            row.concurrency, row.rate, row.rate_window.ms_up(), row.limit_key);
    return true;
  }));
  Wakeup wakeup;
  wakeup.runs = true;  // what was held back may go now
  tell(wakeup);
  return {};
}

Result<bool> PostgresStore::remove_run_type(const std::string& type) {
  CAIRN_TRY(const bool removed, write<bool>([&](Connection& db) -> Result<bool> {
              return db.query(Sql::remove_run_type, type).changed() == 1;
            }));
  Wakeup wakeup;
  wakeup.runs = removed;
  tell(wakeup);
  return removed;
}

Result<std::vector<RunTypeRow>> PostgresStore::list_run_types() {
  return read<std::vector<RunTypeRow>>([&](Connection& db) -> Result<std::vector<RunTypeRow>> {
    return postgres::read_run_types(db.query(Sql::list_run_types));
  });
}

}  // namespace cairn
