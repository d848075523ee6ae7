// Signals and messages. A signal is for every instance that waits for its name and key; a message is for one instance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/rows.h"
#include "store/store_base.h"

namespace cairn {

struct SignalOutcome {
  bool duplicate = false;
  bool kept = false;                  // no instance waits: kept until one does, or until its time to live is over
  std::vector<InstanceId> delivered;  // the instances that get a message
};

class SignalStore : public virtual StoreBase {
 public:
  // Delivers a signal by name and key to every waiting instance, or keeps it. If a wait and a signal commit
  // concurrently, the second one finds the first. ErrorCode::limit if the signal must be kept and too many are kept
  // already.
  virtual Result<SignalOutcome> record_signal(const CorrelatedSignal& signal) = 0;

  // The signals that no instance waits for yet, oldest first.
  virtual Result<Page<KeptSignal>> list_signals(const SignalFilter& filter, const PageRequest& page) = 0;
  // Removes a kept signal. False if it does not exist: a wait has taken it, or it has expired.
  virtual Result<bool> discard_signal(std::int64_t number) = 0;
  // Turns kept signals whose time to live is over into dead letters, at most `max`, each with an event
  // `cairn.signal.expired`. Answers how many.
  virtual Result<std::size_t> expire_signals(std::size_t max) = 0;

  // The order per instance and the rules of holding are those of timers (timer_store.h).
  virtual Result<std::vector<Message>> take_messages(std::size_t max, Duration hold) = 0;
  virtual void give_back_message(std::int64_t message) = 0;
  virtual Result<std::vector<Message>> list_messages(const InstanceId& id) = 0;
};

}  // namespace cairn
