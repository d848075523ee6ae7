// The name that somebody probably meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cairn {

// The candidate nearest to `word` by edits (insert, delete, replace, swap neighbours; case counts
// half), or nothing when none is near. Of equally near ones the first.
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> candidates);
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace cairn
