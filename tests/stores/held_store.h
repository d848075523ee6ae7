// Holds its commits until the gate opens.
#pragma once

#include <latch>
#include <span>
#include <vector>

#include "stores/forwarding_store.h"

namespace cairn {

class HeldStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    gate.wait();
    return ForwardingStore::commit(units);
  }
  std::latch gate{1};
};

}  // namespace cairn
