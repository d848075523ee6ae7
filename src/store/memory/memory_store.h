// A store in plain containers under one mutex: the simplest implementation of the contract. For `cairn run`, tests, and
// as the model that the simulation compares other back ends with.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "store/lease_order.h"
#include "store/lifecycle.h"
#include "store/store.h"
#include "store/store_calls.h"

namespace cairn {

class MemoryStore : public Store {
 public:
  // `clock` must outlive the store.
  explicit MemoryStore(Clock& clock, bool run_events = true) : clock_(clock), run_events_(run_events) {}

  const StoreTraits& traits() const override { return traits_; }
#include "store/back_end_functions.inc"

 private:
  struct Instance {
    std::int64_t number = 0;  // order of creation
    Snapshot snapshot;
    std::string head;  // the encoded snapshot without its pieces, if large values are kept apart
    InstanceRow row;
    std::map<WaitToken, Wait> waits;
    std::vector<HistoryRow> history;
    std::set<std::string> inbox;
  };
  struct Task {
    std::int64_t number = 0;
    TaskRow row;
    std::vector<TaskEvent> events;
  };
  struct Run {
    std::int64_t number = 0;
    RunRow row;
    std::optional<Timestamp> attempt_until;  // while it is leased
    std::vector<RunEvent> events;
  };
  struct Key {
    KeyAnswer answer;
    Timestamp at;
  };
  struct StoredPiece {
    std::string text;
    std::set<std::int64_t> users;  // numbers of instances
  };
  struct Kept {
    CorrelatedSignal signal;
    Timestamp at;
    std::optional<Timestamp> expires_at;
  };
  using TimerKey = std::tuple<Timestamp, std::int64_t, WaitToken>;  // due, instance number, token

  // The caller of these holds the mutex.
  std::optional<CommitOutcome> refuse(const Unit& unit) const;
  void apply(const Unit& unit, CommitOutcome& outcome, Wakeup& wakeup);
  void apply_advance(const Advance& advance, const Unit& unit, CommitOutcome& outcome, Wakeup& wakeup);
  void keep_text(const Unit& unit);
  void change_pieces(std::int64_t instance, const PieceChanges& changes);
  void open_waits(Instance& instance, const Advance& advance, Wakeup& wakeup);
  void change_tasks(const Advance& advance, const std::string& actor);
  void insert_run(RunRow row, const std::optional<RunLease>& lease, CommitOutcome& outcome, Wakeup& wakeup);
  void end_run(const RunEnd& end, Wakeup& wakeup);
  void cancel_run(Run& run, const std::string& actor);
  void send(Message message, Wakeup& wakeup);
  SignalOutcome route(const CorrelatedSignal& signal, Wakeup& wakeup);
  void claim_kept(Instance& instance, Wakeup& wakeup);
  void remove_instance(const std::string& id);
  // True if no queue holds the event any more and it was not published yet.
  bool publish_if_taken(std::int64_t sequence);
  std::int64_t add_dead_letter(const DeadLetter& letter, Wakeup& wakeup);
  void write_event(const InstanceId& instance, const OutboxEntry& entry, Wakeup& wakeup);
  // The earliest of the schedules and the postponed events.
  std::optional<Timestamp> next_scheduled(Timestamp looked_at) const;
  bool leasable(const Run& run, Timestamp at) const;
  static bool is_overdue(const Run& run, Timestamp at);
  void begin_attempt(Run& run, Timestamp at, Wakeup& wakeup);
  void run_event(Run& run, std::string_view kind, int attempt, std::string_view actor, const Json& details);
  // The slots that limited types use now. Drops starts that have left every window.
  LeaseSlots slots(Timestamp at, Wakeup& wakeup);
  bool limits_concurrency(const std::string& type) const;
  void tell(const Wakeup& wakeup) const;

  Clock& clock_;
  bool run_events_;
  StoreTraits traits_;
  bool keeps_heads_ = false;  // some instances have one
  WakeupListener listener_;
  mutable StoreMutex mutex_;
  std::int64_t last_number_ = 0;
  std::vector<DefinitionRow> definitions_;  // in deployment order
  std::map<std::string, Instance> instances_;
  std::map<std::int64_t, std::string> instance_order_;
  std::map<std::string, StoredPiece> pieces_;  // by hash
  std::map<std::string, Task> tasks_;
  std::map<std::string, Run> runs_;
  std::map<std::string, std::string> run_keys_;
  std::map<std::string, RunTypeRow> run_types_;
  std::map<std::string, std::vector<std::pair<Timestamp, std::string>>> run_starts_;  // type → time and limit key
  std::map<std::pair<std::string, std::string>, Key> keys_;
  std::map<std::int64_t, Message> messages_;
  std::map<std::int64_t, Kept> kept_;
  std::map<TimerKey, DueTimer> timers_;
  std::map<std::int64_t, OutboxRow> outbox_;
  std::int64_t published_up_to_ = 0;  // every event up to here is published, so searches for others skip them
  std::map<std::int64_t, DeadLetter> dead_;
  std::map<std::string, HostLock> locks_;
  std::map<std::int64_t, Timestamp> held_messages_;
  std::map<TimerKey, Timestamp> held_timers_;
  struct Queued {
    int attempts = 0;
    std::optional<Timestamp> held_until = {};  // until then it is claimed, or its retry is delayed
  };
  std::map<std::string, std::map<std::int64_t, Queued>> sink_queues_;  // by sink and sequence
  std::set<std::int64_t> unassigned_;                                  // events that are in no queue yet
  std::multimap<std::int64_t, SinkDelivery> deliveries_;               // by the event's sequence
  std::map<std::string, ScheduleRow> schedules_;
  std::map<std::string, Timestamp> held_schedules_;
  std::map<std::string, ApiKeyRow> api_keys_;
  struct TokenUser {
    TokenUserRow row;
    Timestamp seen_at;
  };
  std::map<std::string, TokenUser> token_users_;  // by account
  std::vector<AuditRow> audit_;
};

}  // namespace cairn
