#include "engine/core.h"

#include "base/id.h"
#include "store/store_calls.h"

namespace cairn {

namespace {

std::string unique_name(const CoreOptions& options, Store& store) {
  return options.node + "-" + new_uuid(store.now()).substr(24);
}

}  // namespace

Result<std::unique_ptr<EngineCore>> EngineCore::open(Store& store, CoreOptions options) {
  const bool strict = options.strict_definitions;
  std::unique_ptr<EngineCore> core(new EngineCore(store, std::move(options)));
  CAIRN_TRY_VOID(core->registry_.load(strict));
  return core;
}

EngineCore::EngineCore(Store& store, CoreOptions options)
    : context_{store, options, unique_name(options, store)},
      registry_(store),
      leasing_(store, store, context_.node, context_.options.limits),
      postponed_(context_, listeners_),
      deliveries_(context_, registry_, leasing_, listeners_, postponed_),
      instances_(context_, registry_, deliveries_, listeners_),
      tasks_(context_, deliveries_),
      runs_(context_, deliveries_, leasing_.types(), listeners_),
      reports_(context_, deliveries_, leasing_.leased(), listeners_),
      due_(context_, deliveries_, reports_, postponed_) {
  // A store that never keeps values apart is left as it is.
  if (store.traits().piece_bytes_min > 0) store.keep_apart(context_.options.limits.piece_bytes_min);
  store.watch([this](const Wakeup& wakeup) { hear(wakeup); });
}

EngineCore::~EngineCore() {
  stop();
  context_.store.watch({});  // it may report changes of other nodes at any time
}

void EngineCore::hear(const Wakeup& wakeup) {
  const StoreCallsForbidden inside_a_commit;
  if (wakeup.runs) leasing_.waiters().look();
  for (const InstanceId& id : wakeup.ended) deliveries_.hear_of_end(id);
  if (wakeup.definitions) registry_.expect_changes();
  listeners_.tell(wakeup);
}

void EngineCore::stop() {
  context_.stopping = true;
  context_.stops_soon = true;
  leasing_.waiters().stop();
  runs_.stop();
  deliveries_.stop();
  listeners_.stop();
}

}  // namespace cairn
