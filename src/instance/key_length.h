// The longest text that instances and signals are found by: a reference's key, a signal's key, an event's subject.
// Every store has them in an index, and an index takes only so many bytes.
#pragma once

#include <string_view>

#include "base/utf8.h"

namespace cairn {

inline constexpr std::size_t key_characters_max = 500;
inline bool is_too_long_a_key(std::string_view text) {
  return text.size() > key_characters_max && count_code_points(text) > key_characters_max;
}

}  // namespace cairn
