// What deliveries need besides the unit of work (deliver.cc): settings, and what this node knows about instances.
#include "engine/delivery_attempt.h"

#include "base/limit_refusals.h"

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
      locks_([this](std::function<void()> next) { deferred_.post(std::move(next)); }, context.options.yield,
             context.options.limits.instance_waiting_max),
      deferred_(!context.options.yield, {deferred_threads_max, context.options.limits.reads_waiting_max}),
      writes_(!context.options.yield, {writes_threads_max, context.options.limits.writes_waiting_max}),
      queue_(context.store, context.options.yield, CommitQueue::quiet_before_idle,
             context.options.limits.commits_waiting_max) {}

void Deliveries::stop() {
  queue_.stop();  // first: its threads must not run the tasks of the other two
  deferred_.stop();
  writes_.stop();
}

std::optional<Error> Deliveries::overload() const {
  const Limits& limits = context_.options.limits;
  if (deferred_.is_full()) {
    return overload_error("limits.reads_waiting_max", static_cast<std::int64_t>(limits.reads_waiting_max),
                          "too many requests wait for a thread of the engine; try again later");
  }
  if (locks_.is_full()) {
    return overload_error("limits.instance_waiting_max", static_cast<std::int64_t>(limits.instance_waiting_max),
                          "too many requests wait for earlier ones to the same instances; try again later");
  }
  return std::nullopt;
}

Error Deliveries::too_many_writes() const {
  return overload_error("limits.writes_waiting_max",
                        static_cast<std::int64_t>(context_.options.limits.writes_waiting_max),
                        "too many changes wait for the store; try again later");
}

Setting Deliveries::setting(const Program& program) {
  Setting setting;
  setting.config = context_.options.config;
  setting.limits = context_.options.limits;
  setting.known = registry_.index_for(program);
  setting.trace = context_.options.trace;
  return setting;
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

Result<std::vector<std::string>> Deliveries::excluded(const InstanceId& id, const TaskId& task) {
  auto snapshot = load(id);
  if (!snapshot) return std::move(snapshot).error().error;
  CAIRN_TRY(const auto program, registry_.pinned((*snapshot)->program));
  const Setting now = setting(*program);
  if (!now.known) return definitions_unreadable();
  return excluded_now(*program, now, **snapshot, task, store_.now());
}

}  // namespace cairn
