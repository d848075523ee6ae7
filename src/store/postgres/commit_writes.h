// The rows of a batch as columns, one statement a table.
#pragma once

#include "store/lifecycle.h"
#include "store/postgres/connection.h"
#include "store/unit.h"

namespace cairn::postgres {

class CommitWrites {
 public:
  // `encoded`: the snapshot as it is stored, when somebody has made it already.
  void instance(std::int64_t number, bool is_new, std::uint64_t from_version, const Snapshot& after,
                const std::string& encoded, const std::string& node, Timestamp now);
  void close_wait(std::int64_t instance, const std::string& token);
  void close_waits(std::int64_t instance);  // all of them
  void open_wait(std::int64_t instance, const Wait& wait);
  void timer(Timestamp due, std::int64_t instance, const std::string& token);
  void task(const TaskRow& row, std::int64_t instance);
  void close_task(const TaskClosed& task, Timestamp now);
  void task_event(const TaskId& task, TaskEvent::Kind kind, const std::string& actor, const Json& details);
  void run(RunRow row) { runs.push_back(std::move(row)); }
  void cancel_run(const RunId& run);
  void end_run(const RunEnd& end);
  void run_event(const RunId& run, const char* kind, int attempt, const std::string& actor, const Json& details,
                 Timestamp now);
  void outbox(const InstanceId& instance, const OutboxEntry& entry);
  void log(std::int64_t instance, std::uint64_t version, const LogEntry& entry);
  void message_gone(std::int64_t message) { gone_messages_.add(message); }
  void timer_gone(Timestamp due, std::int64_t instance, const std::string& token);
  void inbox(std::int64_t instance, const std::string& signal);
  void message(std::int64_t target, const Message& message);
  void dead_letter(const DeadLetter& letter);

  // Queues the statements.
  void send(Connection& db, Timestamp now);

  std::vector<RunRow> runs;  // written by the store
  bool run_events = true;    // false: no audit trail of runs

 private:
  struct States {
    Column<std::int64_t> numbers, versions, from_versions;
    Column<int> formats;
    Column<std::string> kinds, tokens, tasks, pointers, signals, codes, errors, nodes, snapshots;
    Column<Timestamp> until, times;
  };
  struct Instances {
    Column<std::int64_t> numbers;
    Column<std::string> ids, definitions, versions, digests, statuses, reference_keys, parents;
    Column<Jsonb> reference_parts, errors;
    Column<Timestamp> started, changed, ended;
  };

  Instances new_instances_, instances_;
  States new_states_, states_;

  Column<std::int64_t> ended_instances_;
  Column<std::int64_t> closed_instances_;
  Column<std::string> closed_tokens_;
  struct {
    Column<std::int64_t> instances, strands;
    Column<std::string> tokens, kinds, steps, names, keys, targets;
    Column<Timestamp> since, until;
  } waits_;
  struct {
    Column<Timestamp> due;
    Column<std::int64_t> instances;
    Column<std::string> tokens;
  } timers_, gone_timers_;
  struct {
    Column<std::string> ids, instance_ids, tokens, steps, names, titles, statuses, assignees, reference_keys;
    Column<std::int64_t> instances, priorities;
    Column<Jsonb> roles, exclude, payloads, forms, reference_parts;
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
  struct {
    Column<Uuid> ids;
    Column<std::string> statuses, last_errors;
    Column<Jsonb> results, errors;
  } ended_runs_;
  struct {
    Column<Uuid> runs;
    Column<std::string> kinds, actors;
    Column<Timestamp> times;
    Column<int> attempts;
    Column<Jsonb> details;
  } run_events_;
  struct {
    Column<std::string> ids, instances, types, subjects;
    Column<Jsonb> data;
    Column<bool> published;
  } outbox_;
  struct {
    Column<std::int64_t> instances, versions;
    Column<std::string> kinds, steps, actors;
    Column<Timestamp> times;
    Column<int> attempts;
    Column<Jsonb> details;
  } log_;
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
