// Wake-ups: timers, messages between instances, and what to do with those that cannot be delivered.
#include "base/log.h"
#include "engine/coordinator.h"
#include "engine/message_body.h"
#include "store/projection.h"

namespace cairn {

namespace {

// The first message of each instance now, the others after it: order is kept per instance.
bool first_for(const InstanceId& id, std::map<std::string, bool>& seen) { return seen.emplace(id.value, true).second; }

// What waits for a definition: the message or timer, not its instance. The next one has a grace period of its own,
// because a newer node may have seen to this one.
std::string name_of(const Delivery& delivery) {
  if (delivery.cause.message) return "message " + std::to_string(*delivery.cause.message);
  if (delivery.cause.timer) return "timer " + delivery.cause.timer->token.value;
  return "instance " + delivery.instance.value;
}

}  // namespace

std::size_t Coordinator::fire_timers(std::size_t max) {
  retry_deferred();
  auto due = store_.take_timers(max, options_.hold);
  if (!due) {
    log_error("timers.failed", due.error());
    return 0;
  }
  std::vector<Delivery> deliveries;
  std::map<std::string, bool> seen;
  bool gave_back = false;
  for (DueTimer& timer : *due) {
    if (!first_for(timer.instance, seen)) {
      store_.give_back(timer);
      gave_back = true;
      continue;
    }
    Delivery delivery;
    delivery.instance = timer.instance;
    delivery.what = TimerFired{timer.token, Json()};
    delivery.actor = "timer";
    delivery.cause.timer = std::move(timer);
    deliveries.push_back(std::move(delivery));
  }
  if (gave_back) look_again();  // should the store have kept one of them
  const std::size_t count = deliveries.size();
  deliver_all(std::move(deliveries));
  return count;
}

std::size_t Coordinator::dispatch_messages() {
  auto messages = store_.take_messages(options_.due_batch, options_.hold);
  if (!messages) {
    log_error("messages.failed", messages.error());
    look_again();
    return 0;
  }
  std::vector<Delivery> deliveries;
  std::map<std::string, bool> seen;
  bool gave_back = false;
  for (Message& message : *messages) {
    if (!first_for(message.target, seen)) {
      store_.give_back_message(message.id);
      gave_back = true;
      continue;
    }
    Delivery delivery;
    delivery.instance = message.target;
    delivery.actor = to_string(message.kind);
    delivery.cause.message = message.id;
    auto what = event_of(message);
    delivery.message = std::move(message);
    if (!what) {
      dead_letter_or_park(delivery, {DeliveryError::Kind::unreadable, what.error()});
      continue;
    }
    delivery.what = std::move(*what);
    if (const auto* signal = std::get_if<SignalReceived>(&delivery.what); signal && !signal->id.empty()) {
      delivery.cause.inbox = Unit::Inbox{delivery.instance, signal->id};
    }
    deliveries.push_back(std::move(delivery));
  }
  if (gave_back) look_again();  // should the store have kept one of them
  const std::size_t count = deliveries.size();
  deliver_all(std::move(deliveries));
  return count;
}

// Decides and submits all of them before waiting for any, so that they share commits. What meets somebody else's
// decision on the way is delivered again by itself.
void Coordinator::deliver_all(std::vector<Delivery> deliveries) {
  struct Item {
    Delivery delivery;
    Lanes::Hold lane;
    std::optional<Decision> decision;
    std::optional<Result<CommitOutcome>> answer;
  };
  std::vector<Item> items;
  std::vector<Delivery> alone;
  items.reserve(deliveries.size());
  CommitQueue::Expected expected(queue_);
  for (Delivery& delivery : deliveries) {
    Lanes::Hold lane = lanes_.try_enter(delivery.instance);
    if (!lane) {
      alone.push_back(std::move(delivery));
      continue;
    }
    auto decision = decide(delivery, true);
    if (!decision && decision.error().kind == DeliveryError::Kind::cut) {
      alone.push_back(std::move(delivery));
      continue;
    }
    if (!decision) {
      dead_letter_or_park(delivery, decision.error());
      continue;
    }
    // Submitted at once, so that the first are written while the others are decided.
    Item& item = items.emplace_back(Item{std::move(delivery), std::move(lane), std::move(*decision), std::nullopt});
    expected.one_more();
    queue_.submit(std::move(item.decision->slice.unit), [&item, &expected](Result<CommitOutcome> outcome, Unit&& unit) {
      item.decision->slice.give_back(std::move(unit));
      item.answer = std::move(outcome);
      expected.answered();
    });
  }
  expected.wait();
  for (Item& item : items) {
    if (!*item.answer) {
      defer_slices(item.decision->slice.unfinished());
      dead_letter_or_park(item.delivery, {DeliveryError::Kind::store, item.answer->error()});
      continue;
    }
    auto delivered = conclude(item.delivery, *item.decision, **item.answer);
    if (!delivered) {
      dead_letter_or_park(item.delivery, delivered.error());
    } else if (!*delivered) {
      item.lane = {};
      alone.push_back(std::move(item.delivery));
    } else {
      continue_slices((*delivered)->unfinished);
      if ((*delivered)->kind == Delivered::Kind::duplicate_signal) drop_repeat(item.delivery);
    }
  }
  items.clear();
  for (const Delivery& delivery : alone) {
    auto delivered = deliver(delivery);
    if (!delivered) {
      dead_letter_or_park(delivery, delivered.error());
    } else if (delivered->kind == Delivered::Kind::duplicate_signal) {
      drop_repeat(delivery);
    }
  }
}

// The signal was applied before: only its message is left to be removed.
void Coordinator::drop_repeat(const Delivery& delivery) {
  Unit unit;
  unit.message = delivery.cause.message;
  unit.actor = node_;
  if (auto removed = queue_.commit(std::move(unit)); !removed) {
    log_error("messages.failed", removed.error());
    look_again();
  }
}

// Counts with this node alone: whoever takes it next begins anew.
bool Coordinator::may_try_again(const Delivery& delivery) {
  if (options_.refused_attempts <= 1) return false;
  const std::lock_guard lock(grace_mutex_);
  if (++refused_[name_of(delivery)] < options_.refused_attempts) return true;
  refused_.erase(name_of(delivery));
  return false;
}

void Coordinator::dead_letter_or_park(const Delivery& delivery, const DeliveryError& failed) {
  const auto give_back = [&] {
    // Left marked as taken: it comes again when the hold is over, not at once in a circle.
    look_again();
    log_warning("delivery.postponed", {{"instance", delivery.instance.value}, {"reason", failed.error.message}});
  };
  DeadLetter letter;
  letter.instance = delivery.instance;
  letter.reason = failed.error.message;
  letter.node = node_;
  if (delivery.message) {
    letter.kind = "message";
    letter.envelope = envelope_of(*delivery.message);
  } else if (delivery.cause.timer) {
    letter.kind = "timer";
    letter.envelope =
        Json::object({{"token", delivery.cause.timer->token.value}, {"due", format_timestamp(delivery.cause.timer->due)}});
  } else if (delivery.cause.run) {
    letter.kind = "run";
    letter.envelope = Json::object({{"run", delivery.cause.run->run.value}});
  }
  Failure why;
  why.failure_class = FailureClass::consistency;
  why.message = failed.error.message;
  switch (failed.kind) {
    case DeliveryError::Kind::store:
    case DeliveryError::Kind::cut:
    case DeliveryError::Kind::moved: return give_back();
    case DeliveryError::Kind::no_definition: {
      // Another node may know it, or it is on its way: only after the grace period is it a fault.
      const Timestamp now = store_.now();
      Timestamp since;
      {
        const std::lock_guard lock(grace_mutex_);
        since = missing_since_.emplace(name_of(delivery), now).first->second;
        // Somebody else saw to those that never came again.
        std::erase_if(missing_since_, [&](const auto& one) {
          return between(one.second, now).seconds > 10 * (options_.deploy_grace.seconds + options_.hold.seconds + 1);
        });
      }
      if (between(since, now) < options_.deploy_grace) return give_back();
      why.code = "definition_missing";
      break;
    }
    case DeliveryError::Kind::unreadable: why.code = "snapshot_corrupt"; break;
    case DeliveryError::Kind::no_instance:
    case DeliveryError::Kind::refused: {
      if (failed.kind == DeliveryError::Kind::refused && may_try_again(delivery)) return give_back();
      Unit unit;
      unit.message = delivery.cause.message;
      unit.timer = delivery.cause.timer;
      // Cancelling what has ended by itself is no fault.
      const bool late_cancel =
          delivery.message && delivery.message->kind == Message::Kind::cancel && failed.kind == DeliveryError::Kind::refused;
      // The sender of a signal was told that it is kept: it stays visible whatever the setting says.
      const bool full =
          delivery.message && delivery.message->kind == Message::Kind::signal && failed.error.code == ErrorCode::limit;
      const bool kept = options_.dead_letters || full;
      if (!late_cancel && kept) unit.dead_letters = {letter};
      if (!late_cancel && !kept) {
        log_warning("delivery.discarded", {{"instance", delivery.instance.value}, {"reason", letter.reason}});
      }
      unit.actor = node_;
      if (auto done = queue_.commit(std::move(unit)); !done) {
        log_error("dead_letter.failed", done.error());
        look_again();
      }
      return;
    }
  }
  log_error("instance.parked", failed.error, {{"instance", delivery.instance.value}});
  if (auto parked = store_.park(delivery.instance, why, letter, delivery.cause.message); !parked) {
    log_error("instance.park_failed", parked.error(), {{"instance", delivery.instance.value}});
    look_again();
    return;
  }
  {
    const std::lock_guard lock(grace_mutex_);
    missing_since_.erase(name_of(delivery));
  }
  if (delivery.cause.timer) {
    Unit unit;
    unit.timer = delivery.cause.timer;
    if (auto done = queue_.commit(std::move(unit)); !done) {
      log_error("dead_letter.failed", done.error());
      look_again();
    }
  }
}

std::size_t Coordinator::resume_interrupted_slices() {
  InstanceFilter filter;
  filter.status = Status::running;
  std::vector<InstanceId> cut;
  PageRequest page;
  do {
    auto rows = store_.list_instances(filter, page);
    if (!rows) {
      log_error("slices.resume", rows.error());
      break;
    }
    for (const InstanceRow& row : rows->items) cut.push_back(row.id);
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  const std::size_t count = cut.size();
  continue_slices(std::move(cut));
  return count;
}

void Coordinator::run_until_idle() {
  while (dispatch_messages() + fire_timers() + end_exhausted_runs() > 0) {
  }
}

}  // namespace cairn
