// The state of an instance when a request was committed.
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
  bool gone = false;      // retention has removed the instance since; another one may have its id
};

// Not for a duplicate key: use `repeated_answer`.
Result<InstanceAnswer> answer_of(Result<Delivered, DeliveryError> delivered);
// Whether `first`, the answer stored with a key, is about a removed instance whose id now belongs to a later one.
bool tells_of_predecessor(const Json& first, Timestamp started_at);
// The answer to a request whose idempotency key was used before. `first` was stored with the first request. The
// output, and the state after an interrupted slice, are read from the store. `what` names what the key was used for.
Result<InstanceAnswer> repeated_answer(Store& store, const std::string& key, const char* what, const Json& first,
                                       bool same_request);

}  // namespace cairn
