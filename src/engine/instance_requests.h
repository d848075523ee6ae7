// Requests of people and other systems about instances. Most become a delivery (deliveries.h), whose rules for `done`
// apply. The overloads without `done` block until the answer. Safe from several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "cairn/requests.h"
#include "engine/context.h"
#include "engine/deliveries.h"
#include "engine/instance_answer.h"
#include "engine/listeners.h"

namespace cairn {

struct SignalRequest {
  std::string id;  // empty: a new one
  std::string name;
  Json key;  // text or null
  Json payload;
  Actor actor;
  std::optional<Duration> ttl = {};  // how long it is kept if no step takes it; absent: as the definition says
  std::optional<std::uint64_t> state_version = {};  // to one instance: the one that the sender has seen
};

class InstanceRequests {
 public:
  // How long the end that another node commits may stay unnoticed. A caller that relies on `is_known_active` reads the
  // store after this time without a notification.
  static constexpr std::chrono::milliseconds unseen_max{250};

  InstanceRequests(EngineContext& context, Registry& registry, Deliveries& deliveries, Listeners& listeners)
      : context_(context),
        registry_(registry),
        instances_(context.store),
        signals_(context.store),
        deliveries_(deliveries),
        listeners_(listeners) {}

  // Errors: not_found, invalid (the input), conflict (key with another body, id taken).
  void start(StartRequest request, Done<Result<InstanceAnswer>> done);
  // Sends a signal to one instance, which keeps it until it waits for it. conflict if the instance has ended or has
  // another state version, invalid if the definition's schema of the signal refuses the payload.
  void signal(InstanceId id, SignalRequest request, Done<Result<InstanceAnswer>> done);
  // cancel, suspend, resume, retry, skip, edit. With `state_version`, conflict if the instance has another
  // one. Call it on a thread that may call the store.
  void request(const InstanceId& id, EventBody what, const Actor& actor, std::optional<std::uint64_t> state_version,
               Done<Result<InstanceAnswer>> done);

  Result<InstanceAnswer> start(StartRequest request);
  Result<InstanceAnswer> signal(const InstanceId& id, SignalRequest request);
  Result<InstanceAnswer> request(const InstanceId& id, EventBody what, const Actor& actor,
                                 std::optional<std::uint64_t> state_version = {});

  // Sends a signal to all instances that wait for its name and key. If none waits, the signal is kept: for its `ttl`,
  // else for the longest one that a deployed definition has for its name, else for ever. `broadcast_all` stops at the
  // first error; earlier signals stay sent.
  void broadcast(SignalRequest request, Done<Result<SignalOutcome>> done);
  void broadcast_all(std::vector<SignalRequest> requests, Done<Result<std::vector<SignalOutcome>>> done);
  Result<SignalOutcome> broadcast(const SignalRequest& request);
  // Hides an instance. conflict if it has not ended.
  void remove(InstanceId id, std::string reason, Done<Result<void>> done);
  Result<void> remove(const InstanceId& id, const std::string& reason);
  // Waits until the instance has ended or is suspended, and returns it. After `limit` it returns the current state.
  Result<Snapshot> wait_for(const InstanceId& id, std::chrono::milliseconds limit);
  // Whether this node knows that the instance neither ended nor is suspended. Listeners::results gets the ends that
  // this node commits.
  bool is_known_active(const InstanceId& id) const {
    const SharedSnapshot known = deliveries_.cached(id);
    return known && !is_final_or_suspended(known->status);
  }

 private:
  Result<void> check(const StartRequest& request) const;
  Result<void> check(const SignalRequest& request) const;
  Result<void> check(const InstanceId& id, EventBody& what) const;
  Result<Start> start_of(StartRequest request) const;
  Result<Delivery> delivery_of(const InstanceId& id, SignalRequest request) const;

  EngineContext& context_;
  Registry& registry_;
  InstanceStore& instances_;
  SignalStore& signals_;
  Deliveries& deliveries_;
  Listeners& listeners_;
  std::atomic<std::uint32_t> broadcasts_{0};  // to count kept signals from time to time
};

}  // namespace cairn
