// Makes the answers to requests (cairn/requests.h) from commits, snapshots and kept answers.
#pragma once

#include <string>

#include "cairn/requests.h"
#include "engine/delivery.h"
#include "store/store.h"

namespace cairn {

// An instance as it is now.
InstanceAnswer answer_of(const Snapshot& snapshot);
// Not for a duplicate key, of which `repeated_answer` tells.
Result<InstanceAnswer> answer_of(Result<Delivered, DeliveryError> delivered);
// Whether `first`, which was kept with a key, tells of a removed instance, and its id belongs to one that started
// later.
bool tells_of_predecessor(const Json& first, Timestamp started_at);
// The answer to a request whose idempotency key was used before. `first` was kept with the first request; what it does
// not say, the output, the error and where an interrupted slice came to, is read from the store. `what` the key was
// used for.
Result<InstanceAnswer> repeated_answer(Store& store, const std::string& key, const char* what, const Json& first,
                                       bool same_request);

}  // namespace cairn
