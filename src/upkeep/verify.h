// Checks what must be true of a store's contents, invariant by invariant, and names what is broken.
// Reads only. On a store that is being written to, a finding may be a change seen half-way: check again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "store/store.h"

namespace cairn {

struct Finding {
  std::string invariant;  // its name, as in docs: I-07 stranded
  std::string subject;    // instance ID, task ID, run ID
  std::string message;
};

struct Verification {
  std::vector<Finding> findings;
  std::size_t instances = 0;
  std::size_t tasks = 0;
  std::size_t runs = 0;
};

Result<Verification> verify_store(Store& store);
// Only one instance, its tasks and its runs. An instance that does not exist has no findings.
Result<Verification> verify_instance(Store& store, const InstanceId& id);

}  // namespace cairn
