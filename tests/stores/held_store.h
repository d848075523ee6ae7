// Holds its commits until the gate opens.
#pragma once

#include <atomic>
#include <latch>
#include <span>
#include <vector>

#include "stores/forwarding_store.h"

namespace cairn {

class HeldStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    began = true;
    began.notify_all();
    gate.wait();
    return ForwardingStore::commit(units);
  }
  std::atomic<bool> began = false;  // a writer is held: it takes no more units from the queue
  std::latch gate{1};
};

}  // namespace cairn
