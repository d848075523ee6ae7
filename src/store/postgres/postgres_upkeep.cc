// Dead letters, parking, host locks, retention.
#include <algorithm>

#include "store/postgres/wire/lock_key.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"
#include "store/report_dead_letter.h"

namespace cairn {

using postgres::Column;
using postgres::Jsonb;
using postgres::Rows;
using postgres::Sql;

void PostgresStore::insert_dead_letter(Connection& db, const DeadLetter& letter, Wakeup& wakeup) {
  std::optional<std::string> instance;
  if (letter.instance) instance = letter.instance->value;
  db.send(Sql::insert_dead_letter, instance, letter.kind, write_json(letter.envelope), letter.reason, letter.node,
          now());
  if (const auto event = event_of(letter, now(), events_)) {
    write_event(db, letter.instance.value_or(InstanceId{}), *event, wakeup);
  }
  if (letter.node == made_by_store) report_dead_letter(letter);
}

Result<std::int64_t> PostgresStore::put_dead_letter(const DeadLetter& letter) {
  Wakeup wakeup;
  CAIRN_TRY(const std::int64_t id, write<std::int64_t>([&](Connection& db) -> Result<std::int64_t> {
              wakeup = {};
              std::optional<std::string> instance;
              if (letter.instance) instance = letter.instance->value;
              Rows rows = db.query(Sql::insert_dead_letter, instance, letter.kind, write_json(letter.envelope),
                                   letter.reason, letter.node, now());
              const std::int64_t number = rows.next() ? rows.integer(0) : 0;
              if (const auto event = event_of(letter, now(), events_)) {
                write_event(db, letter.instance.value_or(InstanceId{}), *event, wakeup);
              }
              return number;
            }));
  if (wakeup.outbox) tell(wakeup);
  return id;
}

Result<bool> PostgresStore::replay_dead_letter(std::int64_t id) {
  Wakeup wakeup;
  CAIRN_TRY(const bool done, write<bool>([&](Connection& db) -> Result<bool> {
              wakeup = {};
              DeadLetter letter;
              {
                Rows rows = db.query(Sql::lock_dead_letter, id);
                if (!rows.next()) return false;
                letter = sql::read_dead_letter(rows);
                if (rows.fault()) return *rows.fault();
              }
              if (letter.kind == "timer" && letter.instance) {
                const auto due = parse_timestamp(letter.envelope.text_or("due", ""));
                Rows number = db.query(Sql::instance_number, letter.instance->value);
                if (!number.next() || !due)
                  return Error{ErrorCode::unsupported, "the timer's instance or time is gone"};
                db.send(Sql::insert_timer, *due, number.integer(0), letter.envelope.text_or("token", ""));
                db.send(Sql::delete_dead_letter, id);
                wakeup.due = *due;
                return true;
              }
              const auto kind = message_kind_from(letter.envelope.text_or("kind", ""));
              if (letter.kind != "message" || !letter.instance || !kind || letter.envelope.find("body") == nullptr) {
                return Error{ErrorCode::unsupported, "a dead letter of kind " + letter.kind + " cannot be replayed"};
              }
              Message message;
              message.target = *letter.instance;
              message.kind = *kind;
              message.body = letter.envelope["body"];
              db.send(Sql::delete_dead_letter, id);
              send(db, message, wakeup);
              return true;
            }));
  tell(wakeup);
  return done;
}

Result<bool> PostgresStore::discard_dead_letter(std::int64_t id) {
  return write<bool>(
      [&](Connection& db) -> Result<bool> { return db.query(Sql::delete_dead_letter, id).changed() == 1; });
}

Result<void> PostgresStore::park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                                 std::optional<std::int64_t> message) {
  Wakeup wakeup;
  CAIRN_TRY_VOID(write<bool>([&](Connection& db) -> Result<bool> {
    wakeup = {};
    const Json error = to_json(why);
    if (db.query(Sql::park_instance, id.value, Jsonb{error}, now()).changed() == 1) {
      for (const OutboxEntry& event : events_of_parking(id, why, now(), events_)) write_event(db, id, event, wakeup);
    }
    insert_dead_letter(db, letter, wakeup);
    if (message) db.send(Sql::delete_message, *message);
    return true;
  }));
  if (message) give_back_message(*message);
  tell(wakeup);
  return {};
}

Result<bool> PostgresStore::mark_deleted(const InstanceId& id, const std::string& reason) {
  return write<bool>([&](Connection& db) -> Result<bool> {
    return db.query(Sql::delete_instance_softly, id.value, now(), reason).changed() == 1;
  });
}

Result<std::optional<HostLock>> PostgresStore::hold_lock(const std::string& name, const std::string& owner,
                                                         Duration length) {
  return write<std::optional<HostLock>>([&](Connection& db) -> Result<std::optional<HostLock>> {
    const Timestamp at = now();
    const Timestamp until = after(at, length);
    Rows rows = db.query(Sql::hold_lock, name, owner, at, until);
    if (!rows.next()) return std::optional<HostLock>();
    return std::optional(HostLock{name, owner, static_cast<std::uint64_t>(rows.integer(0)), until});
  });
}

Result<void> PostgresStore::drop_lock(const HostLock& held) {
  CAIRN_TRY_VOID(write<bool>([&](Connection& db) -> Result<bool> {
    db.send(Sql::drop_lock, held.name, held.owner, held.fence);
    return true;
  }));
  return {};
}

Result<RetentionOutcome> PostgresStore::retire_instances(const RetentionRequest& request) {
  constexpr std::size_t tree_part = 2000;
  Column<std::string> statuses;
  for (const Status status : request.statuses) {
    if (is_final(status)) statuses.add(std::string(to_string(status)));
  }
  return write<RetentionOutcome>([&](Connection& db) -> Result<RetentionOutcome> {
    RetentionOutcome outcome;
    Column<std::int64_t> candidates;
    std::size_t trees = 0;
    // Roots with unfinished trees are skipped, so read more than requested.
    const auto limit = static_cast<std::int64_t>(request.max * 4 + 100);
    Rows roots = db.query(Sql::old_roots, request.ended_before, statuses, limit, Timestamp{Timestamp::seconds_min, 0});
    while (roots.next()) {
      bool whole = true;
      std::vector<std::int64_t> members;
      Rows tree = db.query(Sql::tree_of, roots.text(0), request.ended_before);
      while (whole && tree.next()) {
        whole = tree.boolean(2);
        members.push_back(tree.integer(0));
      }
      if (!whole) continue;
      if (trees == request.max) {
        outcome.more = true;
        break;
      }
      ++trees;
      // A large tree is removed in parts, deepest instances first. No statement exceeds its timeout, and the rest is
      // still a tree. The members come ordered by depth.
      const bool large = members.size() > tree_part;
      for (auto member = members.end() - static_cast<std::ptrdiff_t>(large ? tree_part : members.size());
           member != members.end(); ++member) {
        candidates.add(*member);
      }
      if (large) {
        outcome.more = true;
        break;
      }
    }
    if (candidates.empty()) return outcome;
    Column<std::int64_t> numbers;
    Column<std::string> ids;
    Rows locked = db.query(Sql::lock_removal, candidates);
    while (locked.next()) {
      numbers.add(locked.integer(0));
      ids.add(locked.text(1));
    }
    for (const Sql statement :
         {Sql::remove_task_events, Sql::remove_tasks, Sql::remove_log, Sql::remove_inbox, Sql::remove_messages,
          Sql::remove_timers, Sql::remove_waits, Sql::remove_states, Sql::remove_instances}) {
      db.send(statement, numbers);
    }
    for (const Sql statement : {Sql::remove_run_events, Sql::remove_runs, Sql::remove_deliveries, Sql::remove_outbox}) {
      db.send(statement, ids);
    }
    // Last: a commit that waits for one of these pieces waits only for the end of this transaction.
    db.send(Sql::end_piece_uses, numbers, Column<std::string>());
    outcome.instances = numbers.size();
    return outcome;
  });
}

namespace {

std::vector<std::int64_t> read_numbers(const Rows& rows, int column) {
  std::vector<std::int64_t> numbers;
  if (rows.is_null(column)) return numbers;
  const Json list = rows.json(column);
  for (const Json& number : list.items()) numbers.push_back(number.as_integer());
  return numbers;
}

}  // namespace

// Runs have no index by the time of their end: every lease and every end would pay for it. So a sweep goes through them
// by number, and remembers how far it came. Runs of instances are passed for good. Of the others it remembers those
// that stay. If these are too many for a list, it goes through all runs again after a while.
Result<std::size_t> PostgresStore::retire_runs(Timestamp before, std::size_t max, bool& more) {
  constexpr int parts_max = 50;
  constexpr std::int64_t part_runs = 2000;
  constexpr std::size_t kept_max = 2000;
  const auto limit = static_cast<std::int64_t>(max);
  // No transaction that inserts runs is open for an hour: among older runs no further ones appear.
  const Timestamp no_inserts_before = std::min(before, after(now(), Duration::of_seconds(-3600)));
  // Runs that are not in the list stay up to a quarter longer than requested.
  constexpr Duration again_min = Duration::of_seconds(600), again_max = Duration::of_seconds(86'400);
  const Duration again_after = std::clamp(Duration::of_ms(between(before, now()).ms_up() / 4), again_min, again_max);
  if (retired_runs_.incomplete && after(retired_runs_.begun, again_after) <= now()) retired_runs_ = {};
  if (retired_runs_.next == 0) retired_runs_.begun = now();
  std::size_t gone = 0;
  if (!retired_runs_.kept.empty()) {
    Column<std::int64_t> numbers;
    for (const std::int64_t number : retired_runs_.kept) numbers.add(number);
    CAIRN_TRY(retired_runs_.kept, write<std::vector<std::int64_t>>([&](Connection& db) {
                Rows rows = db.query(Sql::retire_passed_runs, before, numbers);
                gone = 0;
                if (!rows.next()) return Result<std::vector<std::int64_t>>(retired_runs_.kept);
                gone = static_cast<std::size_t>(rows.integer(0));
                return Result<std::vector<std::int64_t>>(read_numbers(rows, 1));
              }));
  }
  struct Part {
    std::size_t gone = 0;
    bool last = true;
    std::int64_t next = 0;
    std::int64_t passed = 0;
    std::vector<std::int64_t> kept;
  };
  for (int i = 0; i < parts_max && gone == 0; ++i) {
    CAIRN_TRY(const Part part, write<Part>([&](Connection& db) -> Result<Part> {
                Rows rows = db.query(Sql::retire_runs, before, limit, retired_runs_.next, std::max(limit, part_runs),
                                     no_inserts_before);
                if (!rows.next()) return Part{};
                return Part{static_cast<std::size_t>(rows.integer(0)), rows.boolean(1), rows.integer(2),
                            rows.integer(3), read_numbers(rows, 4)};
              }));
    gone += part.gone;
    auto& kept = retired_runs_.kept;
    if (retired_runs_.next == retired_runs_.passed) {
      retired_runs_.passed = part.passed;
      if (kept.size() + part.kept.size() <= kept_max) {
        kept.insert(kept.end(), part.kept.begin(), part.kept.end());
      } else {
        retired_runs_.incomplete = true;
      }
    }
    retired_runs_.next = part.last ? retired_runs_.passed : part.next;
    if (part.last) return gone;
  }
  more = true;
  return gone;
}

// Each kind of row in transactions of its own: what one of them cannot do does not hold up the others.
Result<RowRetentionOutcome> PostgresStore::retire_rows(const RowRetention& request) {
  const std::lock_guard lock(retention_mutex_);
  RowRetentionOutcome outcome;
  std::optional<Error> failed;
  const auto note = [&](Result<std::size_t> gone) {
    if (gone) return *gone;
    failed = gone.error();
    return std::size_t{0};
  };
  const auto remove_oldest = [&](Sql statement, Timestamp before) {
    const std::size_t gone = note(write<std::size_t>([&](Connection& db) -> Result<std::size_t> {
      Rows rows = db.query(statement, before, static_cast<std::int64_t>(request.max));
      return rows.next() ? static_cast<std::size_t>(rows.integer(0)) : 0;
    }));
    outcome.more |= gone == request.max;
    return gone;
  };
  if (request.runs_before) outcome.runs = note(retire_runs(*request.runs_before, request.max, outcome.more));
  if (request.outbox_before) outcome.outbox = remove_oldest(Sql::retire_outbox, *request.outbox_before);
  if (request.keys_before) outcome.keys = remove_oldest(Sql::retire_keys, *request.keys_before);
  if (request.users_before) outcome.users = remove_oldest(Sql::retire_users, *request.users_before);
  if (failed && outcome.runs + outcome.outbox + outcome.keys + outcome.users == 0) return *failed;
  return outcome;
}

}  // namespace cairn
