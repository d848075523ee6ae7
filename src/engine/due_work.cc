#include "engine/due_work.h"

#include <set>

#include "base/log.h"
#include "engine/check_input.h"
#include "engine/message_body.h"
#include "instance/retry.h"
#include "store/lease_holder.h"
#include "store/projection.h"

namespace cairn {

namespace {

// Delivers the first message of each instance now and the others after it. That keeps the order per instance.
bool first_for(const InstanceId& id, std::map<std::string, bool>& seen) { return seen.emplace(id.value, true).second; }

// The worker may be alive and hold the lease, but the attempt has exceeded its timeout.
bool is_overdue(const RunRow& run, Timestamp now) {
  if (!run.timeout) return false;
  return run.attempt < run.attempts_max || (run.lease_until && *run.lease_until > now) ||
         after(run.updated_at, *run.timeout) <= now;
}

}  // namespace

std::size_t DueWork::fire_timers(std::size_t max) {
  if (resumes_again_.exchange(false)) resume_interrupted_slices();
  deliveries_.retry_postponed();
  auto due = store_.take_timers(max, context_.options.hold);
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
  if (gave_back) postponed_.look_again();  // in case the store still holds one of them
  const std::size_t count = deliveries.size();
  deliver_all(std::move(deliveries));
  return count;
}

std::size_t DueWork::dispatch_messages() {
  auto messages = store_.take_messages(context_.options.due_batch, context_.options.hold);
  if (!messages) {
    log_error("messages.failed", messages.error());
    postponed_.look_again();
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
      undeliverable_.dead_letter_or_park(delivery, {DeliveryError::Kind::unreadable, what.error()});
      continue;
    }
    delivery.what = std::move(*what);
    if (auto* finished = std::get_if<RunFinished>(&delivery.what)) {
      make_storable(finished->result, finished->failure, context_.options.limits);
    }
    if (const auto* signal = std::get_if<SignalReceived>(&delivery.what); signal && !signal->id.empty()) {
      delivery.cause.inbox = Unit::Inbox{delivery.instance, signal->id};
    }
    deliveries.push_back(std::move(delivery));
  }
  if (gave_back) postponed_.look_again();  // in case the store still holds one of them
  const std::size_t count = deliveries.size();
  deliver_all(std::move(deliveries));
  return count;
}

std::size_t DueWork::expire_signals() {
  const auto expired = store_.expire_signals(context_.options.due_batch);
  if (!expired) {
    log_error("signals.failed", expired.error());
    return 0;
  }
  if (*expired > 0) {
    context_.signals_expired += *expired;
    log_warning("signals.expired", {{"count", static_cast<std::int64_t>(*expired)}});
  }
  return *expired;
}

void DueWork::deliver_all(std::vector<Delivery> deliveries) {
  deliveries_.deliver_all(std::move(deliveries), [this](const Delivery& delivery, const Deliveries::Outcome& outcome) {
    if (!outcome) return undeliverable_.dead_letter_or_park(delivery, outcome.error());
    if (outcome->kind == Delivered::Kind::duplicate_signal) drop_repeat(delivery);
  });
}

// The signal was applied before. Only its message must be removed.
void DueWork::drop_repeat(const Delivery& delivery) {
  Unit unit;
  unit.message = delivery.cause.message;
  unit.actor = context_.node;
  if (auto removed = deliveries_.queue().commit(std::move(unit)); !removed) {
    log_error("messages.failed", removed.error());
    postponed_.look_again();
  }
}

Result<RunAnswer> DueWork::end_exhausted(const RunRow& run) {
  if (is_overdue(run, store_.now())) {
    return reports_.report(
        {run.id, run.fence, Json(), call_timeout(*run.timeout, run.attempt), true, {}, context_.node});
  }
  Failure failure;
  failure.failure_class = FailureClass::timeout;
  failure.code = "lease_expired";
  failure.message = "its worker " + LeaseHolder::parse(run.leased_by).label +
                    " did not report back before the lease ended, " + std::to_string(run.attempt) + " of " +
                    std::to_string(run.attempts_max) + " attempts";
  failure.attempt = run.attempt;
  failure.step = run.step;
  // Several nodes may see the run. The commit that ends it also writes the dead letter, so exactly one is written.
  return reports_.report({run.id, run.fence, Json(), failure, false, std::nullopt, context_.node, true});
}

std::size_t DueWork::end_exhausted_runs() {
  constexpr std::size_t batch = 100;
  const Timestamp now = store_.now();
  std::set<std::string> left_alone;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(unended_, [&](const auto& one) { return one.second <= now; });
    for (const auto& [id, until] : unended_) left_alone.insert(id);
  }
  // Reads more than the runs that could not be ended before, which must not hide the others.
  const std::size_t asked = batch + left_alone.size();
  auto runs = store_.exhausted_runs(asked);
  if (!runs) {
    log_error("runs.exhausted", runs.error());
    postponed_.look_again();
    return 0;
  }
  std::size_t tried = 0;
  std::size_t count = 0;
  // No later time will wake this node for these runs, so it remembers the runs that it could not end.
  bool left = false;
  for (const RunRow& run : *runs) {
    if (left_alone.contains(run.id.value)) continue;
    ++tried;
    if (auto ended = end_exhausted(run); !ended) {
      log_error("runs.exhausted", ended.error(), {{"run", run.id.value}});
      const std::lock_guard lock(mutex_);
      unended_[run.id.value] = after(now, context_.options.hold);
      left = true;
    } else {
      ++count;
    }
  }
  if (left) postponed_.look_again();
  // More runs may follow those that could not be ended.
  return count == 0 && runs->size() == asked ? tried : count;
}

std::size_t DueWork::resume_interrupted_slices() {
  InstanceFilter filter;
  filter.status = Status::running;
  std::vector<InstanceId> interrupted;
  PageRequest page;
  do {
    auto rows = store_.list_instances(filter, page);
    if (!rows) {
      log_error("slices.resume", rows.error());
      resumes_again_ = true;
      postponed_.look_again();
      break;
    }
    for (const InstanceRow& row : rows->items) interrupted.push_back(row.id);
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  const std::size_t count = interrupted.size();
  deliveries_.continue_and_wait(std::move(interrupted));
  return count;
}

Result<std::optional<Timestamp>> DueWork::next_due(Timestamp looked_at) {
  CAIRN_TRY(std::optional<Timestamp> due, store_.next_due(looked_at));
  const std::optional<Timestamp> again_at = postponed_.next();
  if (again_at && (!due || *again_at < *due)) due = again_at;
  return due;
}

void DueWork::run_until_idle() {
  while (dispatch_messages() + fire_timers() + end_exhausted_runs() + expire_signals() > 0) {
  }
}

}  // namespace cairn
