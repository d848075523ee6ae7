// What people and programs read; definitions.
#include <algorithm>

#include "base/utf8.h"
#include "store/postgres/runs/lease_deadlines.h"
#include "store/postgres/wire/row_reading.h"
#include "store/postgres/wire/transaction.h"
#include "store/projection.h"
#include "store/row_filters.h"

namespace cairn {

using postgres::Rows;
using postgres::Sql;
using postgres::text_or_null;

namespace {

// The value, unless a row could not be read.
template <class T>
Result<T> checked(const Rows& rows, T value) {
  if (rows.fault()) return *rows.fault();
  return value;
}

std::int64_t one_more(std::size_t limit) { return static_cast<std::int64_t>(limit) + 1; }

template <class T, class Read>
Result<std::optional<T>> at_most_one(Rows rows, Read read) {
  std::optional<T> found;
  if (rows.next()) found = read(rows);
  return checked(rows, std::move(found));
}

// A page of rows that match a filter. `ask` gives rows behind a cursor, `last` names the row that a cursor continues
// after. The server only rules out rows that cannot have the filter's text; the others are checked here, as on every
// other store.
template <class T, class Filter, class Ask, class Read, class Last>
Result<Page<T>> filtered_page(const Filter& filter, const PageRequest& request, Ask ask, Read read, Last last) {
  // A page of tasks is found from the beginning of the list, so the parts grow.
  constexpr std::size_t part_min = 256, part_max = 4096;
  const bool searched = !filter.text.empty();
  std::size_t part = searched ? std::max(request.limit + 1, part_min) : request.limit + 1;
  Page<T> page;
  // The server has no such text, and would refuse to look for it.
  if (filter.text.find('\0') != std::string::npos || !is_utf8(filter.text)) return page;
  std::string cursor = request.cursor, last_match;
  while (true) {
    Rows rows = ask(cursor, static_cast<std::int64_t>(part));
    const bool more = rows.size() == part;
    while (rows.next()) {
      cursor = last(rows);
      T row = read(rows);
      if (searched && !matches(row, filter)) continue;
      if (page.items.size() == request.limit) {
        page.next_cursor = last_match;
        return checked(rows, std::move(page));
      }
      last_match = cursor;
      page.items.push_back(std::move(row));
    }
    if (!more || rows.fault()) return checked(rows, std::move(page));
    part = std::max(part, std::min(part * 2, part_max));
  }
}

}  // namespace

Result<PutDefinition> PostgresStore::put_definition(const DefinitionRow& row) {
  CAIRN_TRY(const PutDefinition put, write<PutDefinition>([&](Connection& db) -> Result<PutDefinition> {
              const auto inserted =
                  db.query(Sql::insert_definition, row.name, row.version, row.digest, write_json(row.canonical), now());
              if (inserted.changed() == 1) return PutDefinition::added;
              Rows known = db.query(Sql::find_definition, row.name, row.version);
              return known.next() && known.text(2) == row.digest ? PutDefinition::same : PutDefinition::conflict;
            }));
  if (put == PutDefinition::added) {
    Wakeup wakeup;
    wakeup.definitions = true;
    tell(wakeup);
  }
  return put;
}

Result<std::optional<DefinitionRow>> PostgresStore::find_definition(const std::string& name,
                                                                    const std::optional<std::string>& version) {
  return read<std::optional<DefinitionRow>>([&](Connection& db) {
    return at_most_one<DefinitionRow>(
        version ? db.query(Sql::find_definition, name, *version) : db.query(Sql::find_newest_definition, name),
        sql::read_definition<Rows>);
  });
}

Result<Page<DefinitionRow>> PostgresStore::list_definitions(const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  return read<Page<DefinitionRow>>([&](Connection& db) {
    Rows rows = db.query(Sql::list_definitions, cursor, one_more(request.limit));
    auto page = postgres::read_page<DefinitionRow>(rows, request.limit, sql::read_definition<Rows>,
                                                   [](const Rows& row) { return std::to_string(row.integer(6)); });
    return checked(rows, std::move(page));
  });
}

Result<bool> PostgresStore::retire_definition(const std::string& name, const std::string& version) {
  CAIRN_TRY(const bool done, write<bool>([&](Connection& db) -> Result<bool> {
              return db.query(Sql::retire_definition, name, version, now()).changed() == 1;
            }));
  Wakeup wakeup;
  wakeup.definitions = done;
  tell(wakeup);
  return done;
}

void PostgresStore::read_ahead(const std::map<std::int64_t, std::string>& instances) {
  // Few snapshots are read just as quickly on request, and large ones must not all be in memory at once.
  constexpr std::size_t worth_it = 16;
  constexpr std::int64_t bytes_max = 32'768;
  ahead_.clear();
  if (instances.size() < worth_it) return;
  postgres::Column<std::int64_t> numbers;
  for (const auto& [number, id] : instances) numbers.add(number);
  const auto found = read<std::map<std::string, std::string>>([&](Connection& db) {
    std::map<std::string, std::string> snapshots;
    Rows rows = db.query(Sql::find_snapshots, numbers, bytes_max);
    while (rows.next()) snapshots.emplace(instances.at(rows.integer(0)), rows.text(1));
    return Result<std::map<std::string, std::string>>(std::move(snapshots));
  });
  if (found) ahead_.put(*found);
}

Result<std::optional<Snapshot>> PostgresStore::find_snapshot(const InstanceId& id) {
  if (const auto text = ahead_.take(id.value); text && format_of(*text) == 1) {
    auto snapshot = decode_snapshot(*text);
    if (!snapshot) return with_context(snapshot.error(), "instance " + id.value);
    return std::optional(std::move(*snapshot));
  }
  return read<std::optional<Snapshot>>([&](Connection& db) -> Result<std::optional<Snapshot>> {
    const auto head = [&]() -> Result<std::optional<std::string>> {
      Rows rows = db.query(Sql::find_snapshot, id.value);
      if (db.error()) return *db.error();
      if (!rows.next()) return std::optional<std::string>();
      return std::optional(rows.text(0));
    };
    const auto pieces = [&](const std::vector<std::string>& hashes) -> Result<std::map<std::string, std::string>> {
      postgres::Column<std::string> wanted;
      for (const std::string& hash : hashes) wanted.add(hash);
      Rows rows = db.query(Sql::find_pieces, wanted);
      if (db.error()) return *db.error();
      std::map<std::string, std::string> texts;
      while (rows.next()) texts.emplace(rows.text(0), rows.text(1));
      return texts;
    };
    auto snapshot = load_apart(head, pieces);
    if (!snapshot) return with_context(snapshot.error(), "instance " + id.value);
    return snapshot;
  });
}

Result<std::optional<KeyAnswer>> PostgresStore::find_key(const std::string& scope, const std::string& key) {
  return read<std::optional<KeyAnswer>>([&](Connection& db) {
    return at_most_one<KeyAnswer>(db.query(Sql::find_key, scope, key), [](const Rows& row) {
      return KeyAnswer{row.text(0), row.json(1)};
    });
  });
}

Result<std::optional<InstanceRow>> PostgresStore::find_instance(const InstanceId& id) {
  return read<std::optional<InstanceRow>>([&](Connection& db) {
    return at_most_one<InstanceRow>(db.query(Sql::find_instance, id.value), sql::read_instance<Rows>);
  });
}

Result<Page<InstanceRow>> PostgresStore::list_instances(const InstanceFilter& filter, const PageRequest& request) {
  CAIRN_TRY_VOID(sql::read_cursor(request.cursor, INT64_MAX));
  std::optional<std::string> status, parent;
  if (filter.status) status = to_string(*filter.status);
  if (filter.parent) parent = filter.parent->value;
  postgres::Column<std::string> part_names, part_values;
  for (const auto& [name, value] : filter.reference_parts) {
    part_names.add(name);
    part_values.add(value);
  }
  // Rare statuses have their own index, so the number of other instances does not matter.
  const bool troubled = filter.status == Status::suspended || filter.status == Status::failed;
  const Sql statement = filter.parent                      ? Sql::list_children
                        : !filter.reference_key.empty()    ? Sql::list_instances_by_reference
                        : filter.status == Status::running ? Sql::list_running
                        : troubled                         ? Sql::list_troubled
                                                           : Sql::list_instances;
  return read<Page<InstanceRow>>([&](Connection& db) {
    const auto ask = [&](const std::string& behind, std::int64_t count) {
      const std::int64_t cursor = sql::read_cursor(behind, INT64_MAX).value();
      return db.query(statement, cursor, status, text_or_null(filter.definition), parent, filter.started_from,
                      filter.started_to, filter.deleted, count, text_or_null(filter.reference_key),
                      text_or_null(filter.version), part_names, postgres::search_tail(filter.text), part_values);
    };
    return filtered_page<InstanceRow>(filter, request, ask, sql::read_instance<Rows>, [](const Rows& row) {
      return std::to_string(row.integer(sql::instance_number_column));
    });
  });
}

Result<Page<HistoryRow>> PostgresStore::history(const InstanceId& id, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  return read<Page<HistoryRow>>([&](Connection& db) {
    Rows rows = db.query(Sql::history, id.value, cursor, one_more(request.limit));
    auto page = postgres::read_page<HistoryRow>(rows, request.limit, sql::read_history<Rows>,
                                                [](const Rows& row) { return std::to_string(row.integer(0)); });
    return checked(rows, std::move(page));
  });
}

Result<std::vector<Wait>> PostgresStore::list_waits(const InstanceId& id) {
  return read<std::vector<Wait>>([&](Connection& db) {
    std::vector<Wait> waits;
    Rows rows = db.query(Sql::list_waits, id.value);
    while (rows.next()) waits.push_back(sql::read_wait(rows));
    return checked(rows, std::move(waits));
  });
}

Result<std::vector<DueTimer>> PostgresStore::list_timers(const InstanceId& id) {
  return read<std::vector<DueTimer>>([&](Connection& db) {
    std::vector<DueTimer> timers;
    Rows rows = db.query(Sql::list_timers, id.value);
    while (rows.next()) timers.push_back({id, {rows.text(1)}, rows.time(0)});
    return checked(rows, std::move(timers));
  });
}

Result<std::vector<Message>> PostgresStore::list_messages(const InstanceId& id) {
  return read<std::vector<Message>>([&](Connection& db) {
    std::vector<Message> messages;
    Rows rows = db.query(Sql::list_messages, id.value);
    while (rows.next()) messages.push_back(sql::read_message(rows));
    return checked(rows, std::move(messages));
  });
}

Result<std::optional<TaskRow>> PostgresStore::find_task(const TaskId& id) {
  return read<std::optional<TaskRow>>(
      [&](Connection& db) { return at_most_one<TaskRow>(db.query(Sql::find_task, id.value), sql::read_task<Rows>); });
}

Result<std::vector<TaskEvent>> PostgresStore::task_events(const TaskId& id) {
  return read<std::vector<TaskEvent>>([&](Connection& db) {
    std::vector<TaskEvent> events;
    Rows rows = db.query(Sql::task_events, id.value);
    while (rows.next()) {
      TaskEvent event{id, TaskEvent::Kind::created, rows.time(1), rows.text(2), rows.json(3)};
      const std::string kind = rows.text(0);
      for (const TaskEvent::Kind one :
           {TaskEvent::Kind::created, TaskEvent::Kind::assigned, TaskEvent::Kind::released, TaskEvent::Kind::reassigned,
            TaskEvent::Kind::completed, TaskEvent::Kind::cancelled, TaskEvent::Kind::expired,
            TaskEvent::Kind::commented}) {
        if (kind == to_string(one)) event.kind = one;
      }
      events.push_back(std::move(event));
    }
    return checked(rows, std::move(events));
  });
}

Result<Page<TaskRow>> PostgresStore::list_tasks(const TaskFilter& filter, const PageRequest& request) {
  CAIRN_TRY_VOID(sql::read_task_cursor(request.cursor));
  std::optional<std::string> status;
  if (filter.status) status = to_string(*filter.status);
  std::optional<postgres::Column<std::string>> roles;
  if (!filter.roles.empty()) roles = postgres::names(filter.roles);
  std::optional<postgres::Column<std::string>> viewer_roles;
  if (filter.viewer_roles) viewer_roles = postgres::names(*filter.viewer_roles);
  const bool live = !filter.status || *filter.status == TaskStatus::open || *filter.status == TaskStatus::assigned;
  const bool closed_too = filter.closed || !live;
  return read<Page<TaskRow>>([&](Connection& db) {
    const auto ask = [&](const std::string& behind, std::int64_t count) {
      const sql::TaskCursor from = sql::read_task_cursor(behind).value();
      const auto query = [&](Sql statement, const auto&... more) {
        return db.query(statement, status, text_or_null(filter.assignee), roles, text_or_null(filter.name),
                        from.priority, from.number, count, text_or_null(filter.reference_key),
                        postgres::search_tail(filter.text), filter.due_before, viewer_roles, more...);
      };
      return filter.instance ? query(Sql::list_instance_tasks, filter.instance->value, closed_too)
                             : query(closed_too ? Sql::list_all_tasks : Sql::list_open_tasks);
    };
    return filtered_page<TaskRow>(filter, request, ask, sql::read_task<Rows>, [](const Rows& row) {
      return std::to_string(row.integer(12)) + "." + std::to_string(row.integer(sql::task_number_column));
    });
  });
}

Result<std::optional<RunRow>> PostgresStore::find_run(const RunId& id) {
  const std::string uuid = postgres::run_uuid(id);
  return read<std::optional<RunRow>>([&](Connection& db) {
    return at_most_one<RunRow>(db.query(Sql::find_run, postgres::Uuid{uuid}), sql::read_run<Rows>);
  });
}

namespace {

// The statement for the runs of a filter if the newest runs do not fill a page.
Sql list_statement(const RunFilter& filter) {
  if (filter.instance) return Sql::list_instance_runs;
  if (filter.status == RunStatus::pending && !filter.deleted) return Sql::list_pending_runs;
  if (filter.status == RunStatus::leased) return Sql::list_leased_runs;
  if (filter.status == RunStatus::failed || filter.status == RunStatus::cancelled) return Sql::list_troubled_runs;
  return Sql::list_runs;
}

}  // namespace

Result<Page<RunRow>> PostgresStore::list_runs(const RunFilter& filter, const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, INT64_MAX));
  std::optional<std::string> status, instance;
  if (filter.status) status = to_string(*filter.status);
  if (filter.instance) instance = filter.instance->value;
  const Sql statement = list_statement(filter);
  return read<Page<RunRow>>([&](Connection& db) {
    const auto ask = [&](Sql which) {
      return db.query(which, cursor, status, filter.type_prefix, instance, filter.deleted, one_more(request.limit));
    };
    const bool sorted = statement == Sql::list_pending_runs || statement == Sql::list_leased_runs;
    Rows rows = ask(sorted ? Sql::list_newest_runs : statement);
    if (sorted && rows.size() <= request.limit) rows = ask(statement);
    auto page = postgres::read_page<RunRow>(rows, request.limit, sql::read_run<Rows>, [](const Rows& row) {
      return std::to_string(row.integer(sql::run_number_column));
    });
    return checked(rows, std::move(page));
  });
}

Result<std::vector<RunEvent>> PostgresStore::run_events(const RunId& id) {
  const std::string uuid = postgres::run_uuid(id);
  return read<std::vector<RunEvent>>([&](Connection& db) {
    std::vector<RunEvent> events;
    Rows rows = db.query(Sql::run_events, postgres::Uuid{uuid});
    while (rows.next()) {
      tell_event(events, {id, rows.text(0), rows.time(1), static_cast<int>(rows.integer(2)), rows.text(3),
                          rows.stored_json(4)});
    }
    return checked(rows, std::move(events));
  });
}

Result<std::vector<RunRow>> PostgresStore::exhausted_runs(std::size_t max) {
  Wakeup wakeup;
  auto exhausted = read<std::vector<RunRow>>([&](Connection& db) {
    std::vector<RunRow> runs;
    const Timestamp at = now();
    const std::size_t due = db.send(Sql::anything_due, at);
    Rows rows = db.query(Sql::exhausted_runs, at, static_cast<std::int64_t>(max));
    if (db.take(due).next() && !refusal()) {
      wakeup = {};
      db.send(Sql::begin);
      postgres::tend_queue(db, at, wakeup);
      db.query(Sql::commit);
      rows = db.query(Sql::exhausted_runs, at, static_cast<std::int64_t>(max));
    }
    while (rows.next()) runs.push_back(sql::read_run(rows));
    return checked(rows, std::move(runs));
  });
  if (exhausted) tell(wakeup);
  return exhausted;
}

Result<Page<DeadLetter>> PostgresStore::list_dead_letters(const PageRequest& request) {
  CAIRN_TRY(const std::int64_t cursor, sql::read_cursor(request.cursor, 0));
  return read<Page<DeadLetter>>([&](Connection& db) {
    Rows rows = db.query(Sql::list_dead_letters, cursor, one_more(request.limit));
    auto page = postgres::read_page<DeadLetter>(rows, request.limit, sql::read_dead_letter<Rows>,
                                                [](const Rows& row) { return std::to_string(row.integer(0)); });
    return checked(rows, std::move(page));
  });
}

}  // namespace cairn
