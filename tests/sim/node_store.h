// A node's connection to the store. A call can be slow, fail, lose its answer or be the last action of the node. Other
// activities always run between the store's answer and the node, so a node may see outdated data.
#pragma once

#include "store/store.h"

namespace cairn::sim {

class World;

class NodeStore final : public Store {
 public:
  NodeStore(World& world, int node, Store& behind);

  const StoreTraits& traits() const override { return traits_; }
#include "store/back_end_functions.inc"
  Result<void> check_writable() override;
  Result<std::vector<StoreFault>> faults(std::size_t max) override;
  Result<std::vector<QueueFault>> queue_faults(std::size_t max) override;
  Result<std::vector<SettingAdvice>> setting_advice() override;
  Result<SettledOutbox> settled_outbox() override;

 private:
  enum class Way { read, write };
  template <class Call>
  auto through(const char* verb, Way way, const Call& call) -> decltype(call());

  World& world_;
  const int node_;
  Store& behind_;
  StoreTraits traits_;
};

}  // namespace cairn::sim
