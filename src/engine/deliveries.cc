// What deliveries keep beside the unit of work (deliver.cc): settings, and what this node knows about instances.
#include "engine/deliveries.h"

namespace cairn {

Deliveries::Deliveries(EngineContext& context, Registry& registry, RunLeasing& leasing, Listeners& listeners,
                       PostponedWork& postponed)
    : context_(context),
      store_(context.store),
      registry_(registry),
      leasing_(leasing),
      listeners_(listeners),
      postponed_(postponed),
      cache_(context.options.snapshots_cached),
      lanes_([this](std::function<void()> next) { deferred_.post(std::move(next)); }, context.options.yield),
      deferred_(!context.options.yield),
      queue_(context.store, context.options.yield) {}

void Deliveries::stop() {
  queue_.stop();
  deferred_.stop();
}

Setting Deliveries::setting(const Program& program) {
  Setting setting;
  setting.config = context_.options.config;
  setting.limits = context_.options.limits;
  setting.known = registry_.index_for(program);
  setting.trace = context_.options.trace;
  return setting;
}

bool Deliveries::is_known_active(const InstanceId& id) const {
  const auto known = cache_.status(id);
  return known && !is_final_or_suspended(*known);
}

void Deliveries::hear_of_end(const InstanceId& id) {
  // What this node has ended itself is told with the answer to its commit (`committed`), when it is durable.
  if (queue_.commits_here()) return;
  if (id.empty()) {
    // All who wait for an end look at the store, and no cached snapshot is known to be the last.
    cache_.clear();
    return listeners_.results().tell_all();
  }
  cache_.drop(id);
  listeners_.tell_ended_elsewhere(id);
}

}  // namespace cairn
