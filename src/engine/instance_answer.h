// How an instance stood when a request was committed.
#pragma once

#include <string>

#include "engine/delivery.h"
#include "store/instance_store.h"

namespace cairn {

struct InstanceAnswer {
  InstanceId instance;
  std::uint64_t version = 0;
  Status status = Status::running;
  Json output;
  bool repeated = false;  // an earlier request with the same key or signal id did it
  bool gone = false;      // retention has removed the instance since; another one may have its id
};

// Not for a duplicate key, of which `repeated_answer` tells.
Result<InstanceAnswer> answer_of(Result<Delivered, DeliveryError> delivered);
// Whether `first`, which was kept with a key, tells of a removed instance, and its id belongs to one that started
// later.
bool tells_of_predecessor(const Json& first, Timestamp started_at);
// The answer to a request whose idempotency key was used before. `first` was kept with the first request; what it does
// not say, the output and where an interrupted slice came to, is read from the store. `what` the key was used for.
Result<InstanceAnswer> repeated_answer(InstanceStore& store, const std::string& key, const char* what,
                                       const Json& first, bool same_request);

}  // namespace cairn
