// Dead letters, parking, host locks, retention.
#include <algorithm>

#include "store/postgres/lock_key.h"
#include "store/postgres/row_reading.h"
#include "store/postgres/transaction.h"
#include "store/projection.h"

namespace cairn {

using postgres::Column;
using postgres::Jsonb;
using postgres::Rows;
using postgres::Sql;

void PostgresStore::insert_dead_letter(Connection& db, const DeadLetter& letter) {
  std::optional<std::string> instance;
  if (letter.instance) instance = letter.instance->value;
  db.send(Sql::insert_dead_letter, instance, letter.kind, write_json(letter.envelope), letter.reason, letter.node,
          now());
}

Result<std::int64_t> PostgresStore::put_dead_letter(const DeadLetter& letter) {
  return write<std::int64_t>([&](Connection& db) -> Result<std::int64_t> {
    std::optional<std::string> instance;
    if (letter.instance) instance = letter.instance->value;
    Rows rows = db.query(Sql::insert_dead_letter, instance, letter.kind, write_json(letter.envelope), letter.reason,
                         letter.node, now());
    return rows.next() ? rows.integer(0) : 0;
  });
}

Result<bool> PostgresStore::replay_dead_letter(std::int64_t id) {
  Wakeup wakeup;
  CAIRN_TRY(const bool done, write<bool>([&](Connection& db) -> Result<bool> {
              wakeup = {};
              DeadLetter letter;
              {
                Rows rows = db.query(Sql::lock_dead_letter, id);
                if (!rows.next()) return false;
                letter = postgres::read_dead_letter(rows);
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
      if (const auto event = event_of_parking(id, why, now(), events_)) write_event(db, id, *event, wakeup);
    }
    insert_dead_letter(db, letter);
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
    // Roots whose tree is not whole yet are passed over; look at some more than are asked for.
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
      // A large tree goes in parts, the lowest of its instances first: no statement takes longer than it may, and what
      // is left is a tree. They come in the order of their depth.
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
    db.send(Sql::purge_kept, now());
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
    outcome.instances = numbers.size();
    return outcome;
  });
}

// Each kind of row in transactions of its own: what one of them cannot do does not hold up the others. Runs and events
// are gone through by number, a part at a time, from where the last look ended: no statement reads more than its part,
// however many rows are kept.
Result<RowRetentionOutcome> PostgresStore::retire_rows(const RowRetention& request) {
  constexpr int parts_max = 50;
  constexpr std::int64_t looked_at = 2000;  // rows of a part
  const std::lock_guard lock(retention_mutex_);
  RowRetentionOutcome outcome;
  std::optional<Error> failed;
  const auto max = static_cast<std::int64_t>(request.max);
  struct Part {
    std::size_t gone = 0;
    bool last = true;
    std::int64_t next = 0;
  };
  const auto go_through = [&](Sql statement, const std::optional<Timestamp>& before,
                              std::int64_t& from) -> std::size_t {
    if (!before) return 0;
    std::size_t gone = 0;
    for (int i = 0; i < parts_max; ++i) {
      const auto part = write<Part>([&](Connection& db) -> Result<Part> {
        Rows rows = db.query(statement, *before, max, from, std::max(max, looked_at));
        if (!rows.next()) return Part{};
        return Part{static_cast<std::size_t>(rows.integer(0)), rows.boolean(1), rows.integer(2)};
      });
      if (!part) {
        failed = part.error();
        return gone;
      }
      gone += part->gone;
      from = part->last ? 0 : part->next;
      if (part->last) return gone;
      if (gone > 0) break;
    }
    outcome.more = true;
    return gone;
  };
  outcome.runs = go_through(Sql::retire_runs, request.runs_before, retired_runs_);
  outcome.outbox = go_through(Sql::retire_outbox, request.outbox_before, retired_events_);
  if (request.keys_before) {
    const auto keys = write<std::size_t>([&](Connection& db) -> Result<std::size_t> {
      Rows rows = db.query(Sql::retire_keys, *request.keys_before, max);
      return rows.next() ? static_cast<std::size_t>(rows.integer(0)) : 0;
    });
    if (keys) {
      outcome.keys = *keys;
      outcome.more |= *keys == request.max;
    } else {
      failed = keys.error();
    }
  }
  if (failed && outcome.runs + outcome.outbox + outcome.keys == 0) return *failed;
  return outcome;
}

}  // namespace cairn
