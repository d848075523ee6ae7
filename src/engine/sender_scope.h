// Idempotency keys and signal ids belong to their sender. Two senders may use the same one for different requests. No
// sender can use up a key of another one, or see its answer.
#pragma once

#include <string>
#include <string_view>

#include "cairn/requests.h"

namespace cairn {

// `id` as it is stored, with a mark of its sender in front. Unchanged without a sender or an id.
std::string scoped_id(const Actor& actor, std::string id);
// The id as the sender wrote it.
std::string_view unscoped_id(std::string_view stored);
// The key of a run whose sender chose only its id. It is no key that a sender can mean by that text.
std::string key_of_id(std::string_view id);
// The mark of its sender; empty if it has none.
std::string_view sender_mark(std::string_view stored);
// The scope of an idempotency key: `scope`, and the mark of the sender.
std::string scoped_keys(const Actor& actor, std::string scope);

}  // namespace cairn
