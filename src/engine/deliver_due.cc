// Wake-ups: timers, messages between instances, and what to do with those that cannot be delivered.
#include "base/log.h"
#include "engine/coordinator.h"
#include "engine/message_body.h"
#include "schedule/schedules.h"
#include "store/projection.h"

namespace cairn {

namespace {

// The first message of each instance now, the others after it: order is kept per instance.
bool first_for(const InstanceId& id, std::map<std::string, bool>& seen) { return seen.emplace(id.value, true).second; }

// What waits for a definition: the message or timer, not its instance. The next one has a grace period of its own,
// because a newer node may have seen to this one.
std::string name_of(const Errand& errand) {
  if (errand.cause.message) return "message " + std::to_string(*errand.cause.message);
  if (errand.cause.timer) return "timer " + errand.cause.timer->token.value;
  return "instance " + errand.instance.value;
}

}  // namespace

std::size_t Coordinator::fire_timers(std::size_t max) {
  resume_left();
  auto due = store_.take_timers(max, options_.hold);
  if (!due) {
    log_error("timers.failed", due.error());
    return 0;
  }
  std::vector<Errand> errands;
  std::map<std::string, bool> seen;
  bool gave_back = false;
  for (DueTimer& timer : *due) {
    if (!first_for(timer.instance, seen)) {
      store_.give_back(timer);
      gave_back = true;
      continue;
    }
    Errand errand;
    errand.instance = timer.instance;
    errand.what = TimerFired{timer.token, Json()};
    errand.actor = "timer";
    errand.cause.timer = std::move(timer);
    errands.push_back(std::move(errand));
  }
  if (gave_back) look_again();  // should the store have kept one of them
  const std::size_t count = errands.size();
  deliver_all(std::move(errands));
  return count;
}

std::size_t Coordinator::dispatch_messages() {
  auto messages = store_.take_messages(options_.due_batch, options_.hold);
  if (!messages) {
    log_error("messages.failed", messages.error());
    look_again();
    return 0;
  }
  std::vector<Errand> errands;
  std::map<std::string, bool> seen;
  bool gave_back = false;
  for (Message& message : *messages) {
    if (!first_for(message.target, seen)) {
      store_.give_back_message(message.id);
      gave_back = true;
      continue;
    }
    Errand errand;
    errand.instance = message.target;
    errand.actor = to_string(message.kind);
    errand.cause.message = message.id;
    auto what = event_of(message);
    errand.message = std::move(message);
    if (!what) {
      clear_away(errand, {Obstacle::Kind::unreadable, what.error()});
      continue;
    }
    errand.what = std::move(*what);
    if (const auto* signal = std::get_if<SignalReceived>(&errand.what); signal && !signal->id.empty()) {
      errand.cause.inbox = Unit::Inbox{errand.instance, signal->id};
    }
    errands.push_back(std::move(errand));
  }
  if (gave_back) look_again();  // should the store have kept one of them
  const std::size_t count = errands.size();
  deliver_all(std::move(errands));
  return count;
}

// Decides and submits all of them before waiting for any, so that they share commits. What meets somebody else's
// decision on the way is delivered again by itself.
void Coordinator::deliver_all(std::vector<Errand> errands) {
  struct Item {
    Errand errand;
    Lanes::Hold lane;
    std::optional<Decision> decision;
    std::optional<Result<CommitOutcome>> answer;
  };
  std::vector<Item> items;
  std::vector<Errand> alone;
  items.reserve(errands.size());
  CommitQueue::Expected expected(queue_);
  for (Errand& errand : errands) {
    Lanes::Hold lane = lanes_.try_enter(errand.instance);
    if (!lane) {
      alone.push_back(std::move(errand));
      continue;
    }
    auto decision = decide(errand, true);
    if (!decision && decision.error().kind == Obstacle::Kind::cut) {
      alone.push_back(std::move(errand));
      continue;
    }
    if (!decision) {
      clear_away(errand, decision.error());
      continue;
    }
    // Submitted at once, so that the first are written while the others are decided.
    Item& item = items.emplace_back(Item{std::move(errand), std::move(lane), std::move(*decision), std::nullopt});
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
      leave_cut(item.decision->slice.unfinished());
      clear_away(item.errand, {Obstacle::Kind::store, item.answer->error()});
      continue;
    }
    auto delivered = conclude(item.errand, *item.decision, **item.answer);
    if (!delivered) {
      clear_away(item.errand, delivered.error());
    } else if (!*delivered) {
      item.lane = {};
      alone.push_back(std::move(item.errand));
    } else {
      go_on((*delivered)->unfinished);
      if ((*delivered)->kind == Delivered::Kind::duplicate_signal) drop_repeat(item.errand);
    }
  }
  items.clear();
  for (const Errand& errand : alone) {
    auto delivered = deliver(errand);
    if (!delivered) {
      clear_away(errand, delivered.error());
    } else if (delivered->kind == Delivered::Kind::duplicate_signal) {
      drop_repeat(errand);
    }
  }
}

// The signal was applied before: only its message is left to be removed.
void Coordinator::drop_repeat(const Errand& errand) {
  Unit unit;
  unit.message = errand.cause.message;
  unit.actor = node_;
  if (auto removed = queue_.commit(std::move(unit)); !removed) {
    log_error("messages.failed", removed.error());
    look_again();
  }
}

// Counts with this node alone: whoever takes it next begins anew.
bool Coordinator::may_try_again(const Errand& errand) {
  if (options_.refused_attempts <= 1) return false;
  const std::lock_guard lock(grace_mutex_);
  if (++refused_[name_of(errand)] < options_.refused_attempts) return true;
  refused_.erase(name_of(errand));
  return false;
}

void Coordinator::clear_away(const Errand& errand, const Obstacle& obstacle) {
  const auto give_back = [&] {
    // Left marked as taken: it comes again when the hold is over, not at once in a circle.
    look_again();
    log_warning("errand.postponed", {{"instance", errand.instance.value}, {"reason", obstacle.error.message}});
  };
  DeadLetter letter;
  letter.instance = errand.instance;
  letter.reason = obstacle.error.message;
  letter.node = node_;
  if (errand.message) {
    letter.kind = "message";
    letter.envelope = envelope_of(*errand.message);
  } else if (errand.cause.timer) {
    letter.kind = "timer";
    letter.envelope =
        Json::object({{"token", errand.cause.timer->token.value}, {"due", format_timestamp(errand.cause.timer->due)}});
  } else if (errand.cause.run) {
    letter.kind = "run";
    letter.envelope = Json::object({{"run", errand.cause.run->run.value}});
  }
  Failure why;
  why.failure_class = FailureClass::consistency;
  why.message = obstacle.error.message;
  switch (obstacle.kind) {
    case Obstacle::Kind::store:
    case Obstacle::Kind::cut:
    case Obstacle::Kind::moved: return give_back();
    case Obstacle::Kind::no_definition: {
      // Another node may know it, or it is on its way: only after the grace period is it a fault.
      const Timestamp now = store_.now();
      Timestamp since;
      {
        const std::lock_guard lock(grace_mutex_);
        since = missing_since_.emplace(name_of(errand), now).first->second;
        // Somebody else saw to those that never came again.
        std::erase_if(missing_since_, [&](const auto& one) {
          return between(one.second, now).seconds > 10 * (options_.deploy_grace.seconds + options_.hold.seconds + 1);
        });
      }
      if (between(since, now) < options_.deploy_grace) return give_back();
      why.code = "definition_missing";
      break;
    }
    case Obstacle::Kind::unreadable: why.code = "snapshot_corrupt"; break;
    case Obstacle::Kind::no_instance:
    case Obstacle::Kind::refused: {
      if (obstacle.kind == Obstacle::Kind::refused && may_try_again(errand)) return give_back();
      Unit unit;
      unit.message = errand.cause.message;
      unit.timer = errand.cause.timer;
      // Cancelling what has ended by itself is no fault.
      const bool late_cancel =
          errand.message && errand.message->kind == Message::Kind::cancel && obstacle.kind == Obstacle::Kind::refused;
      // The sender of a signal was told that it is kept: it stays visible whatever the setting says.
      const bool full =
          errand.message && errand.message->kind == Message::Kind::signal && obstacle.error.code == ErrorCode::limit;
      const bool kept = options_.dead_letters || full;
      if (!late_cancel && kept) unit.dead_letters = {letter};
      if (!late_cancel && !kept) {
        log_warning("errand.discarded", {{"instance", errand.instance.value}, {"reason", letter.reason}});
      }
      unit.actor = node_;
      if (auto done = queue_.commit(std::move(unit)); !done) {
        log_error("dead_letter.failed", done.error());
        look_again();
      }
      return;
    }
  }
  log_error("instance.parked", obstacle.error, {{"instance", errand.instance.value}});
  if (auto parked = store_.park(errand.instance, why, letter, errand.cause.message); !parked) {
    log_error("instance.park_failed", parked.error(), {{"instance", errand.instance.value}});
    look_again();
    return;
  }
  {
    const std::lock_guard lock(grace_mutex_);
    missing_since_.erase(name_of(errand));
  }
  if (errand.cause.timer) {
    Unit unit;
    unit.timer = errand.cause.timer;
    if (auto done = queue_.commit(std::move(unit)); !done) {
      log_error("dead_letter.failed", done.error());
      look_again();
    }
  }
}

std::size_t Coordinator::resume_cut_slices() {
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
  go_on(std::move(cut));
  return count;
}

void Coordinator::settle() {
  do {
    start_all_queued(*this);
  } while (dispatch_messages() + fire_timers() + end_exhausted_runs() + fire_schedules(*this) > 0);
}

}  // namespace cairn
