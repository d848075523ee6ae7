// Suggests the name that a user probably meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cairn {

// The candidate closest to `word` by edits (insert, delete, replace, swap neighbours; a change of case counts half).
// Empty if no candidate is close. If several are equally close, the first one.
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> candidates);
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace cairn
