// The state of one delivery between its steps, shared by deliver.cc and continue_slices.cc.
#pragma once

#include "engine/deliveries.h"

namespace cairn {

// What a program may start is unknown: the store cannot be read now (Registry::index_for).
inline Error definitions_unreadable() {
  return {ErrorCode::unavailable, "the definitions cannot be read from the store now; try again"};
}

struct Deliveries::Attempt {
  Attempt(Delivery given, Done<Outcome> told) : delivery(std::move(given)), done(std::move(told)) {}

  Delivery delivery;
  Done<Outcome> done;
  std::optional<CallerContext> caller;  // of a request; empty: a slice that continues
  InstanceLocks::Hold lock;             // of a request
  std::optional<Decision> decision;
  int number = 0;
  bool continued = false;  // only once, so that a failing store cannot cause a loop
};

}  // namespace cairn
