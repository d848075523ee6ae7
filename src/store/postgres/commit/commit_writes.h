// Collects the rows of a batch and writes them with one statement per table.
#pragma once

#include <map>
#include <string_view>

#include "store/lifecycle.h"
#include "store/postgres/wire/connection.h"
#include "store/unit.h"

namespace cairn::postgres {

class CommitWrites {
 public:
  // `encoded` is the stored form of the snapshot. Arguments of this function, `end_run` and `log`
  // are borrowed until everything is sent.
  void instance(std::int64_t number, bool is_new, std::uint64_t from_state_version, const Snapshot& after, bool renamed,
                std::string_view encoded, const std::string& node);
  void close_wait(std::int64_t instance, const std::string& token);
  void close_waits(std::int64_t instance);  // all of them
  // `is_new`: the instance is new, so none of its waits can exist yet.
  void open_wait(std::int64_t instance, bool is_new, const Wait& wait);
  void timer(Timestamp due, std::int64_t instance, const std::string& token);
  void task(const TaskRow& row, std::int64_t instance);
  void close_task(const TaskClosed& task, Timestamp now);
  void task_event(const TaskId& task, TaskEvent::Kind kind, const std::string& actor, const Json& details);
  void run(RunRow row) { runs.push_back(std::move(row)); }
  void cancel_run(const RunId& run);
  void end_run(const RunEnd& end);
  void run_event(const RunId& run, std::string_view kind, int attempt, const std::string& actor, const Json& details,
                 Timestamp now);
  void outbox(const InstanceId& instance, const OutboxEntry& entry);
  void log(std::int64_t instance, std::uint64_t state_version, const LogEntry& entry);
  void message_gone(std::int64_t message) { gone_messages_.add(message); }
  void timer_gone(Timestamp due, std::int64_t instance, const std::string& token);
  void inbox(std::int64_t instance, const std::string& signal);
  void message(std::int64_t target, const Message& message);
  void dead_letter(const DeadLetter& letter);

  // Queues the statements that change existing rows, in the common lock order. Each statement is a guard: if one of its
  // rows is not in the expected state, nothing of the transaction is written.
  void send_changes(Connection& db, Timestamp now) const;
  // Queues the statements that only add rows.
  void send_additions(Connection& db, Timestamp now) const;

  // The store writes these itself.
  std::vector<RunRow> runs;
  RowList run_events{RowType::run_event};

 private:
  struct Moved {
    const Snapshot* after;
    std::uint64_t from_state_version;
    bool renamed;  // as in Advance
    std::string_view encoded;
    const std::string* node;
  };
  void send_log(Connection& db) const;
  static void add_state(RowList& to, std::int64_t number, const Moved& moved);

  RowList new_instances_{RowType::instance}, new_states_{RowType::state};
  std::map<std::int64_t, Moved> moved_;  // by number, which is the lock order

  Column<std::int64_t> ended_instances_;
  Column<std::int64_t> closed_instances_;
  Column<std::string> closed_tokens_;
  RowList waits_{RowType::wait}, first_waits_{RowType::wait};
  struct {
    Column<Timestamp> due;
    Column<std::int64_t> instances;
    Column<std::string> tokens;
  } timers_, gone_timers_;
  struct {
    Column<std::string> ids, instance_ids, tokens, steps, names, titles, statuses, assignees, reference_keys;
    Column<std::int64_t> instances, priorities;
    Column<Jsonb> roles, exclude, payloads, forms, reference_parts, managers;
    Column<Timestamp> due, deadlines;
  } tasks_;
  struct {
    Column<std::string> ids, statuses, by;
    Column<Timestamp> at;
    Column<Jsonb> completions;
  } closed_tasks_;
  struct {
    Column<std::string> tasks, kinds, actors;
    Column<Jsonb> details;
  } task_events_;
  Column<Uuid> cancelled_runs_;
  std::map<std::string, const RunEnd*> ended_runs_;  // by UUID, which is the lock order
  struct {
    Column<std::string> ids, instances, types, subjects;
    Column<Jsonb> data;
    Column<bool> published;
  } outbox_;
  struct Line {
    std::int64_t instance;
    std::uint64_t state_version;
    const LogEntry* entry;
  };
  std::vector<Line> log_;
  Column<std::int64_t> gone_messages_;
  struct {
    Column<std::int64_t> instances;
    Column<std::string> signals;
  } inbox_;
  struct {
    Column<std::int64_t> targets;
    Column<std::string> kinds, names, keys, bodies;
  } messages_;
  struct {
    Column<std::string> instances, kinds, envelopes, reasons, nodes;
  } letters_;
};

}  // namespace cairn::postgres
