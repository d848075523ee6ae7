// The maximum length of the texts that find instances and signals: a reference's key, a signal's key, an event's
// subject. Every store indexes them, and an index entry has a maximum size.
#pragma once

#include <string_view>

#include "base/utf8.h"

namespace cairn {

inline constexpr std::size_t key_characters_max = 500;
// A signal is found by its name and key together. An index entry of PostgreSQL has at most 2704 bytes.
inline constexpr std::size_t signal_key_bytes_max = 2400;
inline bool is_too_long_a_key(std::string_view text) {
  return text.size() > key_characters_max && count_code_points(text) > key_characters_max;
}

}  // namespace cairn
