// The longest duration that input may give: in a definition, for a run or for a run type. Times far beyond it fit
// neither the calendar nor the time formats of all stores.
#pragma once

#include "base/time.h"

namespace cairn {

inline constexpr Duration duration_max = Duration::of_seconds(3650ll * 86'400);
inline constexpr const char* duration_max_text = "3650d";

}  // namespace cairn
