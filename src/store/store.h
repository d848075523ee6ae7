// src/store keeps everything durable: instances, runs, tasks, signals, timers, the outbox, schedules, credentials and
// the audit trail. It uses src/instance for the values, and SQLite, libpq and Redis in the back ends; it knows nothing
// of programs. Three back ends implement the same contract: memory/ (the model), sqlite/ and postgres/. tests/contract
// runs on each. Read InstanceStore::commit and Unit in unit.h first: a unit is everything that one decision writes.
//
// There is one interface for each kind of client. A back end implements their sum, Store. Each function is one whole
// decision and one transaction. Its answer is durable. All are safe from several threads, and each may block on the
// disk or the network. docs/adding-a-store.md says what a back end must do.
//
// Errors: unavailable (cannot write now: disk full, file locked; nothing was changed), corrupt (a row is inconsistent),
// internal. Ordinary outcomes are part of the value.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "store/access_store.h"
#include "store/definition_store.h"
#include "store/document_store.h"
#include "store/instance_store.h"
#include "store/outbox_store.h"
#include "store/run_store.h"
#include "store/run_type_store.h"
#include "store/schedule_store.h"
#include "store/signal_store.h"
#include "store/task_store.h"
#include "store/timer_store.h"
#include "store/upkeep_store.h"

namespace cairn {

// What a commit made possible. It only tells where to look; the store has the data.
struct Wakeup {
  bool messages = false;
  bool runs = false;
  bool outbox = false;
  bool definitions = false;       // another node deployed or retired one
  std::optional<Timestamp> due;   // the earliest instant that is due later than now
  std::vector<InstanceId> ended;  // instances that reached a final status
};
using WakeupListener = std::function<void(const Wakeup&)>;

class Store : public DefinitionStore,
              public InstanceStore,
              public SignalStore,
              public TimerStore,
              public RunStore,
              public RunTypeStore,
              public OutboxStore,
              public ScheduleStore,
              public AccessStore,
              public DocumentStore,
              public TaskStore,
              public UpkeepStore {
 public:
  // The rest is for the node that opened the store.

  // The listener is called after each commit that woke something, on the committing thread. It must neither block nor
  // call the store. Set it once, before the first commit.
  virtual void watch(WakeupListener listener) = 0;
  // Frees caches. Called when nothing was committed for a while.
  virtual void release_caches() {}
  // Called when the node stops, perhaps several times. The store no longer waits for an unreachable server. A call that
  // the server has not answered after `patience` fails. The store still writes what it can.
  virtual void stop_waiting(std::chrono::milliseconds patience) { static_cast<void>(patience); }
};

}  // namespace cairn
