// Instants in the past.
#pragma once

#include "base/time.h"

namespace cairn {

// `age` before `now`; the first instant if there is no earlier one.
inline Timestamp earlier(Timestamp now, Duration age) {
  const auto back = negate(age);
  return back ? add(now, *back).value_or(Timestamp{}) : Timestamp{};
}

}  // namespace cairn
