// A wake-up as the text that nodes tell each other, over the channel or with a hint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace cairn::postgres {

// Look at everything: what somebody may have left unsaid, or what was too much to say.
Wakeup look_at_everything(Timestamp now);

// Into `into`, at most so many ended instances; more than that becomes "look at everything".
void merge_wakeup(Wakeup& into, const Wakeup& from);
bool says_nothing(const Wakeup& wakeup);

// One or more texts of at most `bytes_max`.
std::vector<std::string> write_wakeup(const Wakeup& wakeup, std::size_t bytes_max);
// What is not understood is left out: a newer node may know more.
Wakeup read_wakeup(std::string_view text, Timestamp now);

}  // namespace cairn::postgres
