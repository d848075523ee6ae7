#include "engine/instance_requests.h"

#include <algorithm>

#include "base/json_size.h"
#include "base/limit_refusals.h"
#include "base/sha256.h"
#include "engine/check_input.h"
#include "engine/sender_scope.h"
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

void InstanceRequests::start(StartRequest request, Done<Result<InstanceAnswer>> done) {
  std::string key = request.idempotency_key;
  auto start = start_of(std::move(request));
  if (!start) {
    return deliveries_.defer([done = std::move(done), error = std::move(start).error()] { done(error); });
  }
  deliveries_.start(std::move(*start),
                    [this, key = std::move(key), done = std::move(done)](Deliveries::Outcome started) {
                      if (!started || started->kind != Delivered::Kind::duplicate_key)
                        return done(answer_of(std::move(started)));
                      // The instance that the first request with this key started must be read.
                      deliveries_.defer([this, key, done, first = std::move(*started)] {
                        done(repeated_answer(instances_, key, "request", first.answer, first.same_request));
                      });
                    });
}

Result<InstanceAnswer> InstanceRequests::start(StartRequest request) {
  return deliveries_.wait_for<Result<InstanceAnswer>>(
      [&](Done<Result<InstanceAnswer>> done) { start(std::move(request), std::move(done)); });
}

Result<Snapshot> InstanceRequests::wait_for(const InstanceId& id, std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  ResultWaiters::Place place(listeners_.results(), id);
  // This node probably commits the end and passes the snapshot, so it is not read yet.
  if (is_known_active(id)) place.wait_until(std::min(until, std::chrono::steady_clock::now() + unseen_max));
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
