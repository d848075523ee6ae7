// The Idempotency-Key of a change to one run: a report, a release, a cancellation. The transaction of the change stores
// it with the outcome. A repeat whose run has moved on finds the first outcome there, even if the server died before it
// could keep the HTTP answer. Changes without a key cost nothing: no row and no lookup.
#pragma once

#include <optional>
#include <string>

#include "store/instance_store.h"

namespace cairn {

// `request` is the RequestKey; empty if the request has none, and then there is no key. `lease` tells apart the leases
// of a run, or successive runs with one id: it is a fence or the time of creation. The same key with another
// `request_hash` is another request.
std::optional<IdempotencyKey> run_key(const std::string& request, const RunId& run, std::uint64_t lease,
                                      const char* outcome, std::string request_hash = {});

// The outcome in the answer of a stored key.
std::string outcome_in(const Json& answer);

// The outcome of the first request; empty if there is no key, or its request was not carried out.
Result<std::optional<std::string>> first_outcome(InstanceStore& store, const std::optional<IdempotencyKey>& key);

}  // namespace cairn
