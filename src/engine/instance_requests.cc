#include "engine/instance_requests.h"

#include <algorithm>

#include "base/json_size.h"
#include "base/limit_refusals.h"
#include "base/sha256.h"
#include "engine/check_input.h"
#include "engine/request_key.h"
#include "engine/sender_scope.h"
#include "instance/key_length.h"
#include "instance/trace_id.h"

namespace cairn {

namespace {

std::string hash_of(const StartRequest& request) {
  Json body = Json::object({{"definition", request.definition}, {"input", request.input}, {"id", request.id}});
  if (request.version) body.set("version", *request.version);
  if (request.reference) body.set("reference", Json::array({request.reference->key, request.reference->parts}));
  return sha256_hex(write_json(body));
}

}  // namespace

Result<void> InstanceRequests::check(const StartRequest& request) const {
  const Limits& limits = context_.options.limits;
  CAIRN_TRY_VOID(check_incoming(request.input, "the input", limits));
  CAIRN_TRY_VOID(check_incoming_text(request.id, "the id", limits));
  CAIRN_TRY_VOID(check_incoming_text(request.idempotency_key, "the idempotency key", limits));
  CAIRN_TRY_VOID(check_incoming_text(request.actor.name, "the actor", limits));
  if (!request.reference) return {};
  CAIRN_TRY_VOID(check_incoming_key(request.reference->key, "the reference's key", limits));
  CAIRN_TRY_VOID(check_incoming(request.reference->parts, "the reference", limits));
  const std::size_t bytes_max = limits.reference_bytes_max;
  if (!written_beyond(request.reference->parts, bytes_max)) return {};
  return limit_error("limits.reference_bytes_max", static_cast<std::int64_t>(bytes_max),
                     "the reference is larger than " + std::to_string(bytes_max) + " bytes");
}

Result<Start> InstanceRequests::start_of(StartRequest request) const {
  CAIRN_TRY_VOID(check(request));
  Start start;
  if (!request.idempotency_key.empty()) {
    start.key = IdempotencyKey{scoped_keys(request.actor, "start"), request.idempotency_key, hash_of(request), Json()};
  }
  start.definition = std::move(request.definition);
  start.version = std::move(request.version);
  start.actor = std::move(request.actor.name);
  start.event.instance.value = request.id.empty() ? new_uuid(instances_.now()) : std::move(request.id);
  start.event.input = std::move(request.input);
  start.event.reference = std::move(request.reference);
  if (is_traceparent(request.traceparent)) start.event.trace = std::move(request.traceparent);
  return start;
}

void InstanceRequests::start(StartRequest request, Done done) {
  std::string key = request.idempotency_key;
  auto start = start_of(std::move(request));
  if (!start) {
    return deliveries_.defer([done = std::move(done), error = std::move(start).error()] { done(error); });
  }
  deliveries_.start(std::move(*start),
                    [this, key = std::move(key), done = std::move(done)](Deliveries::Outcome started) {
                      if (!started || started->kind != Delivered::Kind::duplicate_key)
                        return done(answer_of(std::move(started)));
                      // What the first request with this key started must be read.
                      deliveries_.defer([this, key, done, first = std::move(*started)] {
                        done(repeated_answer(instances_, key, "request", first.answer, first.same_request));
                      });
                    });
}

Result<InstanceAnswer> InstanceRequests::start(StartRequest request) {
  return deliveries_.wait_for<Result<InstanceAnswer>>([&](Done done) { start(std::move(request), std::move(done)); });
}

Result<void> InstanceRequests::check(const SignalRequest& request) const {
  const Limits& limits = context_.options.limits;
  CAIRN_TRY_VOID(check_incoming(request.payload, "the payload", limits));
  CAIRN_TRY_VOID(check_incoming_key(request.key, "a signal's key", limits));
  CAIRN_TRY_VOID(check_incoming_text(request.name, "the signal's name", limits));
  CAIRN_TRY_VOID(check_incoming_text(request.id, "the signal's id", limits));
  CAIRN_TRY_VOID(check_incoming_text(request.actor.name, "the actor", limits));
  if (request.name.empty()) return Error{ErrorCode::invalid, "a signal has a name"};
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
  delivery.what = std::move(signal);
  delivery.actor = std::move(request.actor.name);
  return delivery;
}

void InstanceRequests::signal(InstanceId id, SignalRequest request, Done done) {
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
      [&](Done done) { signal(id, std::move(request), std::move(done)); });
}

Result<SignalOutcome> InstanceRequests::broadcast(const SignalRequest& request, Duration ttl) {
  CAIRN_TRY_VOID(check(request));
  const Limits& limits = context_.options.limits;
  CorrelatedSignal signal;
  signal.remember = !request.id.empty();
  signal.id = request.id.empty() ? new_uuid(instances_.now()) : scoped_id(request.actor, request.id);
  signal.name = request.name;
  signal.key = request.key;
  signal.payload = request.payload;
  signal.ttl = ttl;
  signal.kept_per_key_max = limits.signals_per_key_max;
  // Counting all of them takes milliseconds, so that the total is held only roughly.
  constexpr std::uint32_t count_every = 1'024;
  if (broadcasts_.fetch_add(1, std::memory_order_relaxed) % count_every == 0) {
    signal.kept_total_max = limits.signals_total_max;
  }
  auto outcome = signals_.record_signal(signal);
  // As long as it is full, every sender is told.
  if (!outcome && signal.kept_total_max > 0 && outcome.error().code == ErrorCode::limit) broadcasts_ = 0;
  return outcome;
}

namespace {

// The id under which a kept signal is stored: as given, or with the mark of the sender who chose it. When two
// senders chose it, the operator has to say which one.
Result<std::string> kept_signal_id(InstanceStore& store, const InstanceId& instance, std::string id) {
  CAIRN_TRY(const auto snapshot, store.find_snapshot(instance));
  if (!snapshot) return id;
  const auto& kept = snapshot->signals;
  const bool exact = std::any_of(kept.begin(), kept.end(), [&](const BufferedSignal& one) { return one.id == id; });
  if (exact) return id;
  std::string stored;
  for (const BufferedSignal& signal : kept) {
    if (unscoped_id(signal.id) != id) continue;
    if (!stored.empty()) {
      return Error{ErrorCode::conflict, "two senders have a signal " + id + ": " + stored + " and " + signal.id};
    }
    stored = signal.id;
  }
  return stored.empty() ? id : stored;
}

}  // namespace

Result<void> InstanceRequests::check(const InstanceId& id, EventBody& what) const {
  const Limits& limits = context_.options.limits;
  if (const auto* edit = std::get_if<StateEdited>(&what)) {
    return check_incoming(edit->merge_patch, "the patch", limits);
  }
  if (const auto* skip = std::get_if<SkipRequested>(&what)) return check_incoming(skip->result, "the result", limits);
  if (const auto* cancel = std::get_if<CancelRequested>(&what)) {
    return check_incoming(Json(cancel->reason), "the reason", limits);
  }
  if (const auto* suspend = std::get_if<SuspendRequested>(&what)) {
    return check_incoming(Json(suspend->reason), "the reason", limits);
  }
  if (auto* discarded = std::get_if<SignalDiscarded>(&what)) {
    CAIRN_TRY_VOID(check_incoming_text(discarded->id, "the signal's id", limits));
    CAIRN_TRY(discarded->id, kept_signal_id(instances_, id, std::move(discarded->id)));
  }
  return {};
}

void InstanceRequests::request(const InstanceId& id, EventBody what, const Actor& actor,
                               std::optional<std::uint64_t> version, Done done) {
  auto checked = check_incoming_text(actor.name, "the actor", context_.options.limits);
  if (checked) checked = check(id, what);
  if (!checked) return done(std::move(checked).error());
  Delivery delivery;
  delivery.instance = id;
  delivery.what = std::move(what);
  delivery.actor = actor.name;
  delivery.version = version;
  if (!RequestKey::current().empty()) delivery.cause.inbox = Unit::Inbox{id, RequestKey::current()};
  deliveries_.deliver(std::move(delivery), [done = std::move(done)](Deliveries::Outcome delivered) {
    if (!delivered || delivered->kind != Delivered::Kind::stale) return done(answer_of(std::move(delivered)));
    const Snapshot& now = *delivered->after;
    done(Error{ErrorCode::conflict, "instance " + now.instance.value + " is " + to_string(now.status)});
  });
}

Result<InstanceAnswer> InstanceRequests::request(const InstanceId& id, EventBody what, const Actor& actor,
                                                 std::optional<std::uint64_t> version) {
  return deliveries_.wait_for<Result<InstanceAnswer>>(
      [&](Done done) { request(id, std::move(what), actor, version, std::move(done)); });
}

Result<void> InstanceRequests::remove(const InstanceId& id, const std::string& reason) {
  CAIRN_TRY(const auto row, instances_.find_instance(id));
  if (!row) return Error{ErrorCode::not_found, "no instance " + id.value};
  CAIRN_TRY(const bool done, instances_.mark_deleted(id, reason));
  if (!done) {
    return Error{ErrorCode::conflict, "instance " + id.value + " is " + to_string(row->status) + "; cancel it first"};
  }
  return {};
}

Result<Snapshot> InstanceRequests::wait_for(const InstanceId& id, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  ResultWaiters::Place place(listeners_.results(), id);
  // Most likely its end is committed here, and handed over: it need not be read back now.
  if (goes_on(id)) place.wait_until(std::min(until, std::chrono::steady_clock::now() + unseen_max));
  for (bool over = false;;) {
    if (auto end = place.end()) return std::move(*end);
    CAIRN_TRY(auto stored, instances_.find_snapshot(id));
    if (!stored) return Error{ErrorCode::not_found, "no instance " + id.value};
    if (over || is_final_or_suspended(stored->status)) return std::move(*stored);
    if (context_.stopping) return Error{ErrorCode::unavailable, "the engine is stopping"};
    over = !place.wait_until(until);
  }
}

}  // namespace cairn
