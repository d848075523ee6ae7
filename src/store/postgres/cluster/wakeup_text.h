// The text form of a wake-up, which nodes send over the channel or as a hint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace cairn::postgres {

// A wake-up for everything: for unannounced work, or if there is too much to list.
Wakeup look_at_everything(Timestamp now);

// Merges into `into`. Beyond a maximum number of ended instances it becomes "look at everything".
void merge_wakeup(Wakeup& into, const Wakeup& from);
bool says_nothing(const Wakeup& wakeup);

// One or more texts of at most `bytes_max`.
std::vector<std::string> write_wakeup(const Wakeup& wakeup, std::size_t bytes_max);
// Unknown parts are ignored, because a newer node may send more.
Wakeup read_wakeup(std::string_view text, Timestamp now);

}  // namespace cairn::postgres
