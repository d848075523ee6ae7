// What deliveries need besides the unit of work (deliver.cc): settings, and what this node knows about instances.
#include "engine/deliveries.h"

namespace cairn {

namespace {

// As many as a PostgreSQL store has connections by default.
constexpr std::size_t writes_max = 8;

}  // namespace

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
      writes_(!context.options.yield, writes_max),
      queue_(context.store, context.options.yield) {}

void Deliveries::stop() {
  queue_.stop();  // first: its threads must not run the tasks of the other two
  deferred_.stop();
  writes_.stop();
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
  // Ends that this node commits are reported with the answer to the commit (`committed`), when they are durable.
  if (queue_.commits_here()) return;
  if (id.empty()) {
    // Every waiter must read the store, and any cached snapshot may be outdated.
    cache_.clear();
    return listeners_.results().tell_all();
  }
  cache_.drop(id);
  listeners_.tell_ended_elsewhere(id);
}

}  // namespace cairn
