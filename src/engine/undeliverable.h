// Handles a message or timer that cannot be delivered: it is retried after the hold, it becomes a dead letter, or its
// instance is parked for an operator. Safe from several threads.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "engine/commit/commit_queue.h"
#include "engine/context.h"
#include "engine/delivery.h"
#include "engine/postponed_work.h"

namespace cairn {

class Undeliverable {
 public:
  Undeliverable(EngineContext& context, CommitQueue& queue, PostponedWork& postponed)
      : context_(context), queue_(queue), postponed_(postponed) {}

  // Waits for its commit.
  void dead_letter_or_park(const Delivery& delivery, const DeliveryError& failed);

 private:
  void try_later(const Delivery& delivery, const Error& why);
  bool may_try_again(const Delivery& delivery);
  void forget_settled(Timestamp now);
  // Whether the missing definition of an instance may still arrive at this node.
  bool within_grace(const Delivery& delivery);
  DeadLetter letter_of(const Delivery& delivery, const Error& why) const;
  void discard(const Delivery& delivery, const DeliveryError& failed);
  void park(const Delivery& delivery, const DeliveryError& failed, const char* code);

  EngineContext& context_;
  CommitQueue& queue_;
  PostponedWork& postponed_;
  std::mutex mutex_;
  std::map<std::string, Timestamp> missing_since_;  // messages and timers whose definition is missing
  struct Refused {
    int times = 0;
    Timestamp last;
  };
  std::map<std::string, Refused> refused_;  // messages and timers that may be retried
  std::optional<Timestamp> forgotten_at_;   // when settled rows were last removed from both
};

}  // namespace cairn
