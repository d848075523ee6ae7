// The outbox and schedules. Claims on both are stored in their rows, not in a process. A claim lasts for the given
// time, and every node can see when it ends.
#include <set>

#include "store/postgres/wire/lock_key.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"
#include "store/report_dead_letter.h"

namespace cairn {

using postgres::Column;
using postgres::json_or_null;
using postgres::Jsonb;
using postgres::Rows;
using postgres::Sql;

namespace {

// When to look again for events that a program had locked.
constexpr Duration look_for_events_after = Duration::of_seconds(1);
constexpr std::int64_t events_assigned_at_once = 256;  // even if few are claimed: a paused sink asks for one event only
// When an event is delivered again that could not be marked as published, because a program had it locked.
constexpr Duration locked_event_again = Duration::of_seconds(30);

ScheduleRow read_schedule(const Rows& rows) {
  ScheduleRow row;
  row.name = rows.text(0);
  row.state_version = static_cast<std::uint64_t>(rows.integer(1));
  row.spec = rows.json(2);
  row.paused = rows.boolean(3);
  row.next_at = rows.time_or_nothing(4);
  row.last_at = rows.time_or_nothing(5);
  row.last = rows.json(6);
  row.queued = rows.json(7);
  row.created_at = rows.time(8);
  row.changed_at = rows.time(9);
  return row;
}

DeadLetter unreadable_event(const OutboxRow& row, const std::string& why) {
  DeadLetter letter;
  if (!row.instance.value.empty()) letter.instance = row.instance;
  letter.kind = "event";
  letter.envelope = Json::object({{"event", row.event.id.value},
                                  {"sequence", row.sequence},
                                  {"type", row.event.type},
                                  {"subject", row.event.subject}});
  letter.reason = why;
  letter.node = made_by_store;  // found while reading the outbox, not by a particular node
  return letter;
}

}  // namespace

void PostgresStore::write_event(Connection& db, const InstanceId& instance, const OutboxEntry& entry, Wakeup& wakeup) {
  Column<std::string> ids, instances, types, subjects;
  Column<Jsonb> data;
  Column<bool> published;
  ids.add(entry.event.id.value);
  instances.add(instance.value);
  types.add(entry.event.type);
  subjects.add(entry.event.subject);
  data.add(Jsonb{entry.event.data});
  published.add(entry.published);
  db.send(Sql::insert_outbox, ids, instances, types, subjects, data, published, now());
  wakeup.outbox |= !entry.published;
}

Result<std::vector<OutboxRow>> PostgresStore::claim_outbox(std::span<const SinkFilter> sinks,
                                                           const OutboxClaim& claim) {
  // The first new events may all be for other sinks. The loop is needed because such a backlog may have any length.
  for (;;) {
    std::int64_t assigned = 0;
    auto result = claim_part(sinks, claim, assigned);
    if (!result || !result->empty() || assigned < events_assigned_at_once) return result;
  }
}

Result<std::vector<OutboxRow>> PostgresStore::claim_part(std::span<const SinkFilter> sinks, const OutboxClaim& claim,
                                                         std::int64_t& assigned) {
  CAIRN_TRY(const bool fresh, read<bool>([](Connection& db) -> Result<bool> {
              Rows rows = db.query(Sql::any_new_event);
              return rows.next() && rows.boolean(0);
            }));
  Column<std::string> names, prefixes;
  for (const SinkFilter& sink : sinks) {
    for (const std::string& type : sink.types.empty() ? std::vector<std::string>{""} : sink.types) {
      names.add(sink.name);
      prefixes.add(type);
    }
  }
  Wakeup wakeup;
  auto events = write<std::vector<OutboxRow>>([&](Connection& db) -> Result<std::vector<OutboxRow>> {
    wakeup = {};
    const Timestamp at = now();
    const auto max = static_cast<std::int64_t>(claim.max);
    // Only one transaction claims or records results at a time: the first event of a subject must not change meanwhile.
    db.send(Sql::outbox_lock, postgres::lock_key("outbox", db.schema()));
    db.send(Sql::short_lock_timeout);
    assigned =
        fresh ? db.query(Sql::assign_outbox, events_assigned_at_once, names, prefixes, at, 4 * events_assigned_at_once)
                    .changed()
              : 0;
    std::vector<OutboxRow> claimed;
    Rows rows =
        db.query(Sql::claim_outbox, at, claim.sink, std::min(max, static_cast<std::int64_t>(outbox_retries_max(claim))),
                 max, after(at, claim.hold));
    Column<std::int64_t> unreadable;
    while (rows.next()) {
      OutboxRow row = sql::read_outbox(rows);
      row.attempts = static_cast<int>(rows.integer(7));
      const auto why = rows.take_unreadable();
      if (!why) {
        claimed.push_back(std::move(row));
        continue;
      }
      // An unreadable event is given up, so that it does not block the others.
      unreadable.add(row.sequence);
      insert_dead_letter(db, unreadable_event(row, why->message), wakeup);
    }
    if (rows.fault()) return *rows.fault();
    if (!unreadable.empty()) {
      db.send(Sql::unqueue_events, claim.sink, unreadable);
      db.send(Sql::next_of_subjects, claim.sink, unreadable, at);
      db.send(Sql::publish_events, unreadable, at);
      if (claimed.empty()) assigned = events_assigned_at_once;  // there may be others behind them
    }
    return claimed;
  });
  if (events && events->empty() && fresh && assigned == 0) {
    // A program has the new events locked. No notification comes if it does not publish them.
    wakeup.due = after(now(), look_for_events_after);
  }
  if (wakeup.due || wakeup.outbox) tell(wakeup);
  return events;
}

Result<std::vector<std::string>> PostgresStore::list_sink_queues() {
  return read<std::vector<std::string>>([](Connection& db) -> Result<std::vector<std::string>> {
    std::vector<std::string> sinks;
    Rows rows = db.query(Sql::list_sink_queues);
    while (rows.next()) sinks.push_back(rows.text(0));
    return sinks;
  });
}

Result<void> PostgresStore::hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences,
                                        Duration hold) {
  Column<std::int64_t> numbers;
  for (const std::int64_t sequence : sequences) numbers.add(sequence);
  CAIRN_TRY_VOID(write<bool>([&](Connection& db) -> Result<bool> {
    db.send(Sql::hold_outbox, sink, numbers, after(now(), hold));
    return true;
  }));
  return {};
}

Result<std::size_t> PostgresStore::record_sink_results(const std::string& sink, std::span<const SinkResult> events) {
  Wakeup wakeup;
  bool around_locks = false;
  const auto record = [&](Connection& db) -> Result<std::size_t> {
    wakeup = {};
    const Timestamp at = now();
    std::set<std::int64_t> locked;
    db.send(Sql::outbox_lock, postgres::lock_key("outbox", db.schema()));
    db.send(Sql::short_lock_timeout);
    if (around_locks) {
      Column<std::int64_t> all;
      for (const SinkResult& event : events) all.add(event.sequence);
      for (Rows rows = db.query(Sql::locked_events, all); rows.next();) locked.insert(rows.integer(0));
    }
    Column<std::int64_t> tried, done, retried, untried, unpublished;
    Column<std::string> sinks, errors;
    Column<int> attempts;
    Column<Timestamp> times, due;
    Column<bool> delivered;
    for (const SinkResult& event : events) {
      if (event.kind == SinkResult::Kind::not_tried) {
        untried.add(event.sequence);
        continue;
      }
      const SinkDelivery one = sink_delivery_of(sink, event);
      tried.add(one.sequence);
      sinks.add(one.sink);
      attempts.add(one.attempt);
      times.add(one.at);
      delivered.add(one.delivered);
      errors.add(one.error);
      if (event.kind == SinkResult::Kind::failed) {
        const Timestamp next = after(at, event.delay);
        retried.add(event.sequence);
        due.add(next);
        if (!wakeup.due || next < *wakeup.due) wakeup.due = next;
      } else if (locked.contains(event.sequence)) {
        unpublished.add(event.sequence);
      } else {
        done.add(event.sequence);
      }
    }
    if (!tried.empty()) db.send(Sql::insert_deliveries, tried, sinks, attempts, times, delivered, errors);
    if (!untried.empty()) db.send(Sql::hold_outbox, sink, untried, at);
    if (!retried.empty()) db.send(Sql::retry_events, sink, retried, due);
    if (!done.empty()) {
      db.send(Sql::unqueue_events, sink, done);
      db.send(Sql::next_of_subjects, sink, done, at);
    }
    // It stays in the queue and is delivered once more, when it can be marked as published.
    if (!unpublished.empty()) db.send(Sql::hold_outbox, sink, unpublished, after(at, locked_event_again));
    if (done.empty()) return std::size_t{0};
    return static_cast<std::size_t>(db.query(Sql::publish_events, done, at).changed());
  };
  // A program that keeps an event locked must not hold up the others: every sink of every node would wait.
  std::string state;
  auto published = write<std::size_t>(record, &state);
  if (!published && state == postgres::lock_timeout_state) {
    around_locks = true;
    published = write<std::size_t>(record);
  }
  if (published) tell(wakeup);
  return published;
}

Result<SettledOutbox> PostgresStore::settled_outbox() {
  return read<SettledOutbox>([&](Connection& db) -> Result<SettledOutbox> { return settled_events_.ask(db, now()); });
}

Result<Page<OutboxRow>> PostgresStore::list_outbox(const OutboxFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, filter.after));
  std::optional<std::string> instance;
  if (filter.instance) instance = filter.instance->value;
  return read<Page<OutboxRow>>([&](Connection& db) -> Result<Page<OutboxRow>> {
    const Sql statement = filter.unpublished ? Sql::list_waiting_outbox
                          : filter.instance  ? Sql::list_instance_outbox
                                             : Sql::list_outbox;
    Rows rows = db.query(statement, std::max(cursor, filter.after), filter.type_prefix, filter.subject, instance,
                         static_cast<std::int64_t>(request.limit) + 1);
    return postgres::read_page<OutboxRow>(
        rows, request.limit,
        [](const Rows& row) {
          OutboxRow event = sql::read_outbox(row);
          event.published_at = row.time_or_nothing(7);
          return event;
        },
        [](const Rows& row) { return std::to_string(row.integer(0)); });
  });
}

Result<std::vector<SinkDelivery>> PostgresStore::list_deliveries(std::int64_t sequence) {
  return read<std::vector<SinkDelivery>>([&](Connection& db) -> Result<std::vector<SinkDelivery>> {
    std::vector<SinkDelivery> deliveries;
    Rows rows = db.query(Sql::list_deliveries, sequence);
    while (rows.next()) {
      deliveries.push_back({rows.integer(0), rows.text(1), static_cast<int>(rows.integer(2)), rows.time(3),
                            rows.boolean(4), rows.text(5)});
    }
    return deliveries;
  });
}

Result<bool> PostgresStore::resend_outbox(std::int64_t sequence) {
  CAIRN_TRY(const bool found, write<bool>([&](Connection& db) -> Result<bool> {
              if (db.query(Sql::resend_outbox, sequence).changed() == 0) return false;
              Column<std::int64_t> events;
              Column<std::string> sinks, errors;
              Column<int> attempts;
              Column<Timestamp> times;
              Column<bool> delivered;
              events.add(sequence);
              sinks.add(std::string());
              attempts.add(0);
              times.add(now());
              delivered.add(false);
              errors.add(std::string());
              db.send(Sql::insert_deliveries, events, sinks, attempts, times, delivered, errors);
              return true;
            }));
  Wakeup wakeup;
  wakeup.outbox = found;
  tell(wakeup);
  return found;
}

Result<PutSchedule> PostgresStore::put_schedule(const ScheduleRow& row) {
  Wakeup wakeup;
  if (!row.paused) wakeup.due = row.next_at;
  CAIRN_TRY(const PutSchedule put, write<PutSchedule>([&](Connection& db) -> Result<PutSchedule> {
              const Timestamp at = now();
              std::optional<Timestamp> next_at, last_at;
              if (row.next_at) next_at = whole_ms_up(*row.next_at);
              if (row.last_at) last_at = whole_ms(*row.last_at);
              const std::int64_t changed =
                  row.state_version == 0
                      ? db.query(Sql::insert_schedule, row.name, write_json(row.spec), row.paused, next_at, last_at,
                                 json_or_null(row.last), json_or_null(row.queued), at)
                            .changed()
                      : db.query(Sql::update_schedule, row.name, row.state_version, write_json(row.spec), row.paused,
                                 next_at, last_at, json_or_null(row.last), json_or_null(row.queued), at)
                            .changed();
              return changed == 1 ? PutSchedule::done : PutSchedule::stale;
            }));
  if (put == PutSchedule::done) tell(wakeup);
  return put;
}

Result<std::optional<ScheduleRow>> PostgresStore::find_schedule(const std::string& name) {
  return read<std::optional<ScheduleRow>>([&](Connection& db) -> Result<std::optional<ScheduleRow>> {
    Rows rows = db.query(Sql::find_schedule, name);
    std::optional<ScheduleRow> found;
    if (rows.next()) found = read_schedule(rows);
    if (rows.fault()) return *rows.fault();
    return found;
  });
}

Result<Page<ScheduleRow>> PostgresStore::list_schedules(const PageRequest& request) {
  return read<Page<ScheduleRow>>([&](Connection& db) -> Result<Page<ScheduleRow>> {
    Rows rows = db.query(Sql::list_schedules, request.cursor, static_cast<std::int64_t>(request.limit) + 1);
    return postgres::read_page<ScheduleRow>(rows, request.limit, read_schedule,
                                            [](const Rows& row) { return row.text(0); });
  });
}

Result<bool> PostgresStore::remove_schedule(const std::string& name) {
  return write<bool>(
      [&](Connection& db) -> Result<bool> { return db.query(Sql::remove_schedule, name).changed() == 1; });
}

Result<std::vector<ScheduleRow>> PostgresStore::take_schedules(std::size_t max, Duration hold) {
  return write<std::vector<ScheduleRow>>([&](Connection& db) -> Result<std::vector<ScheduleRow>> {
    const Timestamp at = now();
    std::vector<ScheduleRow> taken;
    Rows rows = db.query(Sql::take_schedules, at, static_cast<std::int64_t>(max), after(at, hold));
    while (rows.next()) taken.push_back(read_schedule(rows));
    if (rows.fault()) return *rows.fault();
    return taken;
  });
}

}  // namespace cairn
