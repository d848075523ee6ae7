#include "engine/undeliverable.h"

#include "base/incidents.h"
#include "base/log.h"
#include "engine/message_body.h"
#include "store/lifecycle.h"
#include "store/report_dead_letter.h"

namespace cairn {

namespace {

// Each message or timer has its own grace period, not its instance: a newer node may have delivered the one before.
std::string name_of(const Delivery& delivery) {
  if (delivery.cause.message) return "message " + std::to_string(*delivery.cause.message);
  if (delivery.cause.timer) return "timer " + delivery.cause.timer->token.value;
  return "instance " + delivery.instance.value;
}

}  // namespace

void Undeliverable::dead_letter_or_park(const Delivery& delivery, const DeliveryError& failed) {
  switch (failed.kind) {
    case DeliveryError::Kind::store:
    case DeliveryError::Kind::cut:
    case DeliveryError::Kind::moved: return try_later(delivery, failed.error);
    case DeliveryError::Kind::no_definition:
      // Another node may know the definition, or its deployment is not visible here yet. It is missing only after the
      // grace period.
      if (within_grace(delivery)) return try_later(delivery, failed.error);
      return park(delivery, failed, definition_missing);
    case DeliveryError::Kind::unreadable: return park(delivery, failed, "snapshot_corrupt");
    case DeliveryError::Kind::refused:
    case DeliveryError::Kind::unwritable:
      if (may_try_again(delivery)) return try_later(delivery, failed.error);
      return discard(delivery, failed);
    case DeliveryError::Kind::no_instance: return discard(delivery, failed);
  }
}

// The row stays taken, so it comes back when the hold expires and not in a busy loop.
void Undeliverable::try_later(const Delivery& delivery, const Error& why) {
  postponed_.look_again();
  log_warning("delivery.postponed", {{"instance", delivery.instance.value}, {"reason", why.message}});
}

// Counts on this node only. Another node that takes the row starts from zero.
bool Undeliverable::may_try_again(const Delivery& delivery) {
  const int attempts = context_.options.refused_attempts;
  if (attempts <= 1) return false;
  const Timestamp now = context_.store.now();
  const std::lock_guard lock(mutex_);
  forget_settled(now);
  Refused& refused = refused_[name_of(delivery)];
  refused.last = now;
  if (++refused.times < attempts) return true;
  refused_.erase(name_of(delivery));
  return false;
}

// Requires the mutex. Rows that did not come back for long were delivered, perhaps by another node.
void Undeliverable::forget_settled(Timestamp now) {
  const CoreOptions& options = context_.options;
  if (forgotten_at_ && between(*forgotten_at_, now) < options.hold) return;
  forgotten_at_ = now;
  const auto settled = [&](Timestamp last) {
    return between(last, now).seconds > 10 * (options.deploy_grace.seconds + options.hold.seconds + 1);
  };
  std::erase_if(missing_since_, [&](const auto& one) { return settled(one.second); });
  std::erase_if(refused_, [&](const auto& one) { return settled(one.second.last); });
}

bool Undeliverable::within_grace(const Delivery& delivery) {
  const CoreOptions& options = context_.options;
  const Timestamp now = context_.store.now();
  const std::lock_guard lock(mutex_);
  const Timestamp since = missing_since_.emplace(name_of(delivery), now).first->second;
  forget_settled(now);
  return between(since, now) < options.deploy_grace;
}

DeadLetter Undeliverable::letter_of(const Delivery& delivery, const Error& why) const {
  DeadLetter letter;
  letter.instance = delivery.instance;
  letter.reason = why.message;
  letter.node = context_.node;
  if (delivery.message) {
    letter.kind = "message";
    letter.envelope = envelope_of(*delivery.message);
  } else if (const auto& timer = delivery.cause.timer) {
    letter.kind = "timer";
    letter.envelope = Json::object({{"token", timer->token.value}, {"due", format_timestamp(timer->due)}});
  } else if (delivery.cause.run) {
    letter.kind = "run";
    letter.envelope = Json::object({{"run", delivery.cause.run->run.value}});
  }
  return letter;
}

void Undeliverable::discard(const Delivery& delivery, const DeliveryError& failed) {
  Unit unit;
  unit.message = delivery.cause.message;
  unit.timer = delivery.cause.timer;
  unit.actor = context_.node;
  const bool by_instance = failed.kind == DeliveryError::Kind::refused;
  const auto is = [&](Message::Kind kind) { return delivery.message && delivery.message->kind == kind; };
  // To cancel an instance that has ended is not an error.
  const bool late_cancel = is(Message::Kind::cancel) && (by_instance || failed.kind == DeliveryError::Kind::unwritable);
  // The sender of a signal has the answer that it is accepted, so it becomes a dead letter whatever the setting says.
  const bool signal = is(Message::Kind::signal) && by_instance;
  const bool kept = context_.options.dead_letters || signal;
  if (!late_cancel && kept) unit.dead_letters = {letter_of(delivery, failed.error)};
  if (!late_cancel && !kept) {
    log_warning("delivery.discarded", {{"instance", delivery.instance.value}, {"reason", failed.error.message}});
  }
  if (auto done = queue_.commit(std::move(unit)); !done) {
    log_error("dead_letter.failed", done.error());
    postponed_.look_again();
  }
}

void Undeliverable::park(const Delivery& delivery, const DeliveryError& failed, const char* code) {
  const Error& why = failed.error;
  Failure failure;
  failure.failure_class = FailureClass::consistency;
  failure.code = code;
  failure.message = why.message;
  const DeadLetter letter = letter_of(delivery, why);
  auto parked = context_.store.park(delivery.instance, failure, letter, delivery.cause.message);
  if (!parked) {
    log_error("instance.park_failed", parked.error(), {{"instance", delivery.instance.value}});
    postponed_.look_again();
    return;
  }
  const LogFields fields{{"instance", delivery.instance.value}, {"code", code}, {"message", why.message}};
  if (failed.kind == DeliveryError::Kind::no_definition) {
    report_incident({Incident::Kind::definition_unavailable, failed.definition}, fields);
  }
  report_incident({Incident::Kind::instance_suspended, failed.definition}, fields);
  report_dead_letter(letter);
  {
    const std::lock_guard lock(mutex_);
    missing_since_.erase(name_of(delivery));
  }
  if (!delivery.cause.timer) return;
  Unit unit;
  unit.timer = delivery.cause.timer;
  if (auto done = queue_.commit(std::move(unit)); !done) {
    log_error("dead_letter.failed", done.error());
    postponed_.look_again();
  }
}

}  // namespace cairn
