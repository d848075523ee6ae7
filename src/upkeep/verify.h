// Checks the invariants of a store's contents and names each violation. It only reads. On a store with active writers a
// finding may be a change in progress: check again.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "store/store.h"

namespace cairn {

struct Finding {
  std::string invariant;  // its name as in docs/verify.md: I-07 stranded
  std::string subject;    // instance ID, task ID, run ID
  std::string message;
};

struct Verification {
  std::vector<Finding> findings;
  std::size_t instances = 0;
  std::size_t tasks = 0;
  std::size_t runs = 0;
};

// `stop` is asked before each page; if it says yes, the answer is ErrorCode::unavailable.
Result<Verification> verify_store(Store& store, const std::function<bool()>& stop = {});
// Checks one instance, its tasks and its runs. An unknown instance has no findings.
Result<Verification> verify_instance(Store& store, const InstanceId& id);

}  // namespace cairn
