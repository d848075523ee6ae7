// What people and other systems ask of instances. Each request becomes a delivery (deliveries.h), whose rules for
// `done` hold here too. Safe from several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "engine/actor.h"
#include "engine/context.h"
#include "engine/deliveries.h"
#include "engine/instance_answer.h"
#include "engine/listeners.h"

namespace cairn {

struct StartRequest {
  std::string definition;
  std::optional<std::string> version;  // absent: the newest
  Json input = Json::object();
  std::optional<Reference> reference;
  std::string id;               // empty: a new one
  std::string idempotency_key;  // empty: none
  Actor actor;
  std::string traceparent = {};  // the caller's trace, which the instance continues; empty or malformed: its own
};

struct SignalRequest {
  std::string id;  // empty: a new one
  std::string name;
  Json key;  // text or null
  Json payload;
  Actor actor;
};

class InstanceRequests {
 public:
  // How long an end that another node committed may stay unseen. A caller that relies on `goes_on` looks at the store
  // when it has heard nothing for so long.
  static constexpr std::chrono::milliseconds unseen_max{250};

  using Done = std::function<void(Result<InstanceAnswer>)>;

  InstanceRequests(EngineContext& context, Deliveries& deliveries, Listeners& listeners)
      : context_(context),
        instances_(context.store),
        signals_(context.store),
        deliveries_(deliveries),
        listeners_(listeners) {}

  // Errors: not_found, invalid (the input), conflict (key with another body, id taken).
  void start(StartRequest request, Done done);
  // To one instance; kept by it when it does not wait for it yet. conflict when it has ended.
  void signal(InstanceId id, SignalRequest request, Done done);
  // cancel, suspend, resume, retry, skip, edit. With `version`, conflict when the instance has moved. Asked on a thread
  // that may call the store.
  void request(const InstanceId& id, EventBody what, const Actor& actor, std::optional<std::uint64_t> version,
               Done done);

  // The same, waiting for the answer.
  Result<InstanceAnswer> start(StartRequest request);
  Result<InstanceAnswer> signal(const InstanceId& id, SignalRequest request);
  Result<InstanceAnswer> request(const InstanceId& id, EventBody what, const Actor& actor,
                                 std::optional<std::uint64_t> version = {});

  // To all instances that wait for name and key; if there are none, the signal is kept for `ttl`.
  Result<SignalOutcome> broadcast(const SignalRequest& request, Duration ttl);
  // Hides an instance. conflict when it has not ended.
  Result<void> remove(const InstanceId& id, const std::string& reason);
  // The instance once it has ended or is suspended, or as it is when the time is over.
  Result<Snapshot> wait_for(const InstanceId& id, std::chrono::milliseconds limit);
  // Whether this node knows that it neither ended nor is suspended. An end that this node commits is told to
  // Listeners::results.
  bool goes_on(const InstanceId& id) const { return deliveries_.goes_on(id); }

 private:
  Result<void> check(const StartRequest& request) const;
  Result<void> check(const SignalRequest& request) const;
  Result<void> check(const InstanceId& id, EventBody& what) const;
  Result<Start> start_of(StartRequest request) const;
  Result<Delivery> delivery_of(const InstanceId& id, SignalRequest request) const;

  EngineContext& context_;
  InstanceStore& instances_;
  SignalStore& signals_;
  Deliveries& deliveries_;
  Listeners& listeners_;
  std::atomic<std::uint32_t> broadcasts_{0};  // to count kept signals now and then
};

}  // namespace cairn
