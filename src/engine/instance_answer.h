// How an instance stood when a request was committed.
#pragma once

#include <string>

#include "engine/delivery.h"
#include "store/store.h"

namespace cairn {

struct InstanceAnswer {
  InstanceId instance;
  std::uint64_t version = 0;
  Status status = Status::running;
  Json output;
  bool repeated = false;  // an earlier request with the same key or signal id did it
};

// Not for a duplicate key, of which `repeated_answer` tells.
Result<InstanceAnswer> answer_of(Result<Delivered, DeliveryError> delivered);
// The answer to a request whose idempotency key was used before. `first` was kept with the first request; what it does
// not say, the output and where an interrupted slice came to, is read from the store. `what` the key was used for.
Result<InstanceAnswer> repeated_answer(Store& store, const std::string& key, const char* what, const Json& first,
                                       bool same_request);

}  // namespace cairn
