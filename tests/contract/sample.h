// Advances written by hand, in place of an interpreter.
#pragma once

#include <string>

#include "base/clock.h"
#include "store/unit.h"

namespace cairn::sample {

inline constexpr Timestamp start_of_time = Timestamp::of_unix_ms(1'700'000'000'000);

// A new instance without waits.
inline Advance begin(const std::string& id) {
  Advance advance;
  advance.from_state_version = 0;
  Snapshot& after = advance.after;
  after.instance = {id};
  after.program = {"sample", "1.0.0", std::string(64, 'a')};
  after.state_version = 1;
  after.status = Status::waiting;
  after.started_at = after.changed_at = start_of_time;
  after.input = Json::object({{"n", 1}});
  after.state = Json::object({{"step", "begun"}});
  after.strands.push_back({1, 0, {{"block", "steps", Json(0)}}, {}});
  after.counter = 1;
  after.last_event = "event-" + id;
  LogEntry entry;
  entry.at = start_of_time;
  entry.actor = "tester";
  advance.log.push_back(entry);
  return advance;
}

// The next state version of `before`, without changes.
inline Advance next(const Snapshot& before) {
  Advance advance;
  advance.from_state_version = before.state_version;
  advance.after = before;
  ++advance.after.state_version;
  return advance;
}

inline void open_wait(Advance& advance, Wait wait) {
  wait.since = start_of_time;
  wait.strand = 1;
  advance.after.strands.at(0).waits.push_back(wait.token);
  advance.after.waits.push_back(wait);
  advance.waits_opened.push_back(std::move(wait));
}

inline void close_wait(Advance& advance, const std::string& token) {
  std::erase_if(advance.after.waits, [&](const Wait& wait) { return wait.token.value == token; });
  for (Strand& strand : advance.after.strands) std::erase(strand.waits, WaitToken{token});
  advance.waits_closed.push_back({token});
}

inline void add_task(Advance& advance, const std::string& id, const std::string& name = "Review") {
  TaskOpened task;
  task.id = {id};
  task.token = {"token-" + id};
  task.step = "review";
  task.name = name;
  task.title = "Review it";
  task.roles = {"clerk"};
  task.payload = Json::object({{"amount", 12}});
  task.reference = advance.after.reference;
  advance.tasks_opened.push_back(task);
  Wait wait;
  wait.token = task.token;
  wait.kind = WaitKind::task;
  wait.step = "review";
  wait.name = name;
  wait.target = id;
  open_wait(advance, wait);
}

inline void complete_task(Advance& advance, const std::string& id, const std::string& by = "ann") {
  advance.tasks_closed.push_back({{id}, TaskStatus::completed, by, Json::object({{"ok", true}})});
  close_wait(advance, "token-" + id);
}

inline void add_timer(Advance& advance, const std::string& token, Timestamp until) {
  Wait wait;
  wait.token = {token};
  wait.kind = WaitKind::timer;
  wait.step = "pause";
  wait.until = until;
  open_wait(advance, wait);
}

inline void add_signal_wait(Advance& advance, const std::string& token, const std::string& name, Json key = {}) {
  Wait wait;
  wait.token = {token};
  wait.kind = WaitKind::signal;
  wait.step = "listen";
  wait.name = name;
  wait.key = std::move(key);
  open_wait(advance, wait);
}

inline void add_run(Advance& advance, const std::string& id, const std::string& type = "default.echo",
                    int attempts = 3) {
  RunIntent run;
  run.id = {id};
  run.token = {"token-" + id};
  run.step = "call";
  run.type = type;
  run.idempotency_key = "key-" + id;
  run.payload = Json::object({{"x", 1}});
  run.attempts_max = attempts;
  run.backoff = Duration::of_seconds(1);
  run.cap = Duration::of_seconds(300);
  advance.runs.push_back(run);
  Wait wait;
  wait.token = run.token;
  wait.kind = WaitKind::run;
  wait.step = "call";
  wait.name = type;
  wait.target = id;
  open_wait(advance, wait);
}

inline void end(Advance& advance, Status status = Status::completed) {
  advance.after.status = status;
  for (const Wait& wait : advance.after.waits) advance.waits_closed.push_back(wait.token);
  advance.after.waits.clear();
  advance.after.strands.clear();
  advance.after.output = Json::object({{"done", true}});
}

inline OutboxEvent event(const std::string& id, const std::string& subject) {
  return {{id}, "sample.happened", subject, Json::object({{"id", id}})};
}

inline CorrelatedSignal signal(const std::string& id, const std::string& name, Json key = {}) {
  CorrelatedSignal signal;
  signal.id = id;
  signal.name = name;
  signal.key = std::move(key);
  signal.payload = Json::object({{"from", id}});
  signal.ttl = Duration::of_seconds(3600);
  return signal;
}

inline RunRow run(const std::string& id, const std::string& type = "default.echo") {
  RunRow row;
  row.id = {id};
  row.type = type;
  row.payload = Json::object({{"x", id}});
  row.backoff = Duration::of_seconds(1);
  row.cap = Duration::of_seconds(300);
  return row;
}

}  // namespace cairn::sample
