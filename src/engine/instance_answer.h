// Makes the answers to requests (cairn/requests.h) from commits, snapshots and stored answers.
#pragma once

#include <string>

#include "cairn/requests.h"
#include "engine/delivery.h"
#include "store/instance_store.h"

namespace cairn {

// An instance as it is now.
InstanceAnswer answer_of(const Snapshot& snapshot);
// Not for a duplicate key: use `repeated_answer`.
Result<InstanceAnswer> answer_of(Result<Delivered, DeliveryError> delivered);
// Whether `first`, the answer stored with a key, is about a removed instance whose id now belongs to a later one.
bool tells_of_predecessor(const Json& first, Timestamp started_at);
// The answer to a request whose idempotency key was used before. `first` was stored with the first request. The
// output, the error, and the state after an interrupted slice are read from the store. `what` names what the key was
// used for.
Result<InstanceAnswer> repeated_answer(InstanceStore& store, const std::string& key, const char* what,
                                       const Json& first, bool same_request);

}  // namespace cairn
