// Derived ids that sort in the order of their creation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

// As `derived_uuid`, but the ids of one parent sort by `counter` (its lowest 26 bits). Rows read in the order of this
// id come in the order of their creation.
std::string ordered_uuid(std::string_view parent, std::string_view name, std::uint64_t counter);

}  // namespace cairn
