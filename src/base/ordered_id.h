// Derived ids that sort in the order in which they were made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

// As `derived_uuid`, and the ids of one parent sort by their counter (by its lowest 26 bits): rows that are read in the
// order of this id are read in the order in which they were made.
std::string ordered_uuid(std::string_view parent, std::string_view name, std::uint64_t counter);

}  // namespace cairn
