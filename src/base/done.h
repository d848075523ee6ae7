// The one style of asynchronous requests: the caller passes a function, which receives the answer once. Who calls it,
// and what it may do, is written beside each request.
#pragma once

#include <functional>

namespace cairn {

template <class Answer>
using Done = std::function<void(Answer)>;

}  // namespace cairn
