// Signals to one instance, or by name and key to all instances that wait for them.
#include "base/limit_refusals.h"
#include "engine/check_input.h"
#include "engine/instance_requests.h"
#include "engine/sender_scope.h"
#include "instance/key_length.h"
#include "store/projection.h"

namespace cairn {

Result<void> InstanceRequests::check(const SignalRequest& request) const {
  const Limits& limits = context_.options.limits;
  CAIRN_TRY_VOID(check_incoming(request.payload, "the payload", limits));
  CAIRN_TRY_VOID(check_incoming_key(request.key, "a signal's key", limits));
  CAIRN_TRY_VOID(check_incoming_text(request.name, "the signal's name", limits));
  CAIRN_TRY_VOID(check_incoming_text(request.id, "the signal's id", limits));
  CAIRN_TRY_VOID(check_incoming_text(request.actor.name, "the actor", limits));
  if (request.name.empty()) return Error{ErrorCode::invalid, "a signal has a name", {{"/name", "must not be empty"}}};
  const std::size_t key_bytes = request.key.is_string() ? request.key.as_string().size() : 0;
  if (request.name.size() + key_bytes > signal_key_bytes_max) {
    return limit_error(
        "signal_key_bytes", static_cast<std::int64_t>(signal_key_bytes_max),
        "the signal's name and key together are longer than " + std::to_string(signal_key_bytes_max) + " bytes");
  }
  return {};
}

Result<Delivery> InstanceRequests::delivery_of(const InstanceId& id, SignalRequest request) const {
  CAIRN_TRY_VOID(check(request));
  Delivery delivery;
  delivery.instance = id;
  SignalReceived signal{scoped_id(request.actor, std::move(request.id)), std::move(request.name),
                        std::move(request.key), std::move(request.payload)};
  if (signal.id.empty()) {
    signal.id = new_uuid(instances_.now());
  } else {
    delivery.cause.inbox = Unit::Inbox{id, signal.id};
  }
  if (request.ttl) signal.until = after(instances_.now(), *request.ttl);
  delivery.what = std::move(signal);
  delivery.actor = std::move(request.actor.name);
  delivery.state_version = request.state_version;
  return delivery;
}

void InstanceRequests::signal(InstanceId id, SignalRequest request, Done<Result<InstanceAnswer>> done) {
  auto delivery = delivery_of(id, std::move(request));
  if (!delivery) {
    return deliveries_.defer([done = std::move(done), error = std::move(delivery).error()] { done(error); });
  }
  deliveries_.deliver(std::move(*delivery), [done = std::move(done)](Deliveries::Outcome delivered) {
    if (!delivered || delivered->kind != Delivered::Kind::stale) return done(answer_of(std::move(delivered)));
    const Snapshot& ended = *delivered->after;
    done(Error{ErrorCode::conflict,
               "instance " + ended.instance.value + " is " + to_string(ended.status) + " and takes no more signals"});
  });
}

Result<InstanceAnswer> InstanceRequests::signal(const InstanceId& id, SignalRequest request) {
  return deliveries_.wait_for<Result<InstanceAnswer>>(
      [&](Done<Result<InstanceAnswer>> done) { signal(id, std::move(request), std::move(done)); });
}

void InstanceRequests::broadcast(SignalRequest request, Done<Result<SignalOutcome>> done) {
  deliveries_.write_elsewhere([this, request = std::move(request)] { return broadcast(request); }, std::move(done));
}

void InstanceRequests::broadcast_all(std::vector<SignalRequest> requests,
                                     Done<Result<std::vector<SignalOutcome>>> done) {
  const auto send = [this, requests = std::move(requests)]() -> Result<std::vector<SignalOutcome>> {
    std::vector<SignalOutcome> outcomes;
    for (const SignalRequest& request : requests) {
      auto outcome = broadcast(request);
      if (!outcome) {
        Error error = std::move(outcome).error();
        error.places.clear();  // they lead into the body of one signal; these requests have other bodies
        return error;
      }
      outcomes.push_back(std::move(*outcome));
    }
    return outcomes;
  };
  deliveries_.write_elsewhere(send, std::move(done));
}

Result<SignalOutcome> InstanceRequests::broadcast(const SignalRequest& request) {
  CAIRN_TRY_VOID(check(request));
  CAIRN_TRY(const std::optional<Duration> defined_ttl, registry_.admit_signal(request.name, request.payload));
  const Limits& limits = context_.options.limits;
  CorrelatedSignal signal;
  signal.remember = !request.id.empty();
  signal.id = request.id.empty() ? new_uuid(instances_.now()) : scoped_id(request.actor, request.id);
  signal.name = request.name;
  signal.key = request.key;
  signal.payload = request.payload;
  signal.ttl = request.ttl ? request.ttl : defined_ttl;
  signal.kept_per_key_max = limits.signals_per_key_max;
  // Counting all kept signals takes milliseconds, so only some requests check the total.
  constexpr std::uint32_t count_every = 1'024;
  if (broadcasts_.fetch_add(1, std::memory_order_relaxed) % count_every == 0) {
    signal.kept_total_max = limits.signals_total_max;
  }
  auto outcome = signals_.record_signal(signal);
  // While the limit is exceeded, every request counts, so every sender gets the error.
  if (!outcome && signal.kept_total_max > 0 && outcome.error().code == ErrorCode::limit) broadcasts_ = 0;
  return outcome;
}

}  // namespace cairn
