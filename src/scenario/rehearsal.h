// A rehearsal runs one instance and its children in memory, with a clock that only the rehearsal moves. `cairn
// run` and `cairn test` both use it. No I/O, no threads, no sleeping.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpreter/advance.h"

namespace cairn {

// The prepared answer to an external call.
struct CallReply {
  std::string target;  // a worker type, or the id of an http or graphql step
  Json result;
  std::optional<Failure> failure;
};

class Rehearsal {
 public:
  struct Options {
    Setting setting;
    Timestamp begins_at;
    // If a call has no reply: true: it fails as if no worker handled it; false: it stays pending.
    bool calls_fail_without_reply = true;
    // Encode and decode the snapshot after each commit, as if the process had been restarted.
    bool restart_at_every_commit = false;
    bool record_commits = false;  // keep the bytes of each commit in `commits`
  };

  struct Instance {
    std::shared_ptr<const Program> program;
    Snapshot snapshot;
  };
  struct OpenTask {
    InstanceId instance;
    TaskOpened row;
  };
  struct PendingRun {
    InstanceId instance;
    RunIntent intent;
    int attempt = 1;
    std::optional<Timestamp> again_at;    // when the next retry is due
    std::optional<Timestamp> overdue_at;  // when the running attempt times out
    std::uint64_t order = 0;
  };
  struct Emitted {
    InstanceId instance;
    OutboxEvent event;
    Timestamp at;
  };
  struct TaskEnd {
    TaskOpened row;
    TaskClosed closed;
  };
  struct Kept {
    std::string id;
    std::string name;
    Json key;
  };

  explicit Rehearsal(Options options);

  // Starts the instance and runs it until everything waits. Invalid input is an error.
  Result<void> start(std::shared_ptr<const Program> program, InstanceId id, Json input,
                     std::optional<Reference> reference = std::nullopt);

  void add_reply(CallReply reply) { replies_.push_back(std::move(reply)); }
  // Finishes the oldest pending call to `target`. ErrorCode::not_found if there is none.
  Result<void> reply_now(const CallReply& reply);

  // A refused completion is an error and changes nothing.
  Result<void> complete(const OpenTask& task, const std::string& by, const Json& payload);
  // Sends a signal to the root instance. If the root does not use it, it is offered to the children that wait for it.
  // `id` names the signal in `kept`.
  // ErrorCode::conflict if the root has ended. `ttl`: how long the signal is kept if no step takes it.
  Result<void> signal(SignalReceived signal, std::optional<Duration> ttl = {});
  // An operator's request to the root instance.
  Result<void> request(EventBody what);

  // Fires the earliest timer or retry and moves the clock there. False if there is none (before `until`, if given).
  Result<bool> fire_next(std::optional<Timestamp> until = std::nullopt);
  std::optional<Timestamp> next_due() const;
  void move_clock(Timestamp to);

  Timestamp now() const { return now_; }
  const Instance& root() const { return instances_.at(root_); }
  const Instance* find(const InstanceId& id) const;
  const std::vector<OpenTask>& open_tasks() const { return open_tasks_; }  // oldest first
  const std::vector<PendingRun>& pending_runs() const { return runs_; }
  const std::vector<Emitted>& emitted() const { return emitted_; }
  const std::vector<InstanceStart>& continuations() const { return continuations_; }
  const std::vector<TaskEnd>& closed_tasks() const { return closed_tasks_; }
  const std::vector<CallReply>& unused_replies() const { return replies_; }
  std::vector<Kept> kept_signals() const;
  std::vector<const Instance*> suspended_children() const;
  const std::vector<std::string>& commits() const { return commits_; }
  const std::map<std::string, Trace>& traces() const { return traces_; }  // by digest; if the setting asks
  // The open waits of the root as rule R2 lists them.
  Json waits() const;

 private:
  struct Timer {
    InstanceId instance;
    WaitToken token;
    Timestamp until;
    std::uint64_t order = 0;
  };
  struct Letter {
    InstanceId instance;
    EventBody what;
  };

  Result<void> run_until_waiting();
  Result<void> deliver(const Letter& letter);
  Result<void> take(const InstanceId& id, Advance advance);
  void collect(const InstanceId& id, Advance& advance);
  void attempt_runs();
  void attempt(PendingRun& run, const CallReply& reply);
  void begin_attempt(PendingRun& run);
  std::optional<CallReply> take_reply(const PendingRun& run);
  Result<void> start_child(const InstanceId& parent, const InstanceStart& start);
  Result<bool> offer_kept_to_children();
  Event event_of(const InstanceId& id, EventBody what) const;
  std::size_t age_of(const InstanceId& id) const;  // 0: the oldest
  void list_waits(const Instance& instance, Json& into) const;

  Options options_;
  Timestamp now_;
  InstanceId root_;
  std::map<InstanceId, Instance> instances_;
  std::vector<InstanceId> order_;  // in the order of their starts
  std::deque<Letter> letters_;
  std::vector<OpenTask> open_tasks_;
  std::vector<TaskEnd> closed_tasks_;
  std::vector<PendingRun> runs_;
  std::vector<Timer> timers_;
  std::vector<CallReply> replies_;
  std::vector<Emitted> emitted_;
  std::vector<InstanceStart> continuations_;
  std::vector<std::pair<InstanceId, InstanceStart>> starts_;
  std::vector<std::string> commits_;
  std::map<std::string, Trace> traces_;
  std::uint64_t sequence_ = 0;
};

}  // namespace cairn
