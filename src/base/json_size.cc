#include "base/json_size.h"

#include <algorithm>

#include "base/json_writer.h"

namespace cairn {

namespace {

// Counts noted values instead of writing them.
struct NotedLengths {
  static constexpr bool asks = true;
  bool take(const Json& value, std::string&) {
    const JsonNote* const note = value.note();
    if (note == nullptr) return false;
    bytes += note->written;
    return true;
  }
  std::size_t bytes = 0;
};

// An upper bound for the written length: every character may need an escape of six bytes.
std::size_t written_at_most(const Json& value) {
  std::size_t bytes = 32;  // a number, brackets, a comma
  if (const JsonNote* const note = value.note()) return bytes + note->written;
  if (value.is_string()) {
    bytes += value.as_string().size() * 6;
  } else if (value.is_array()) {
    for (const Json& item : value.items()) bytes += written_at_most(item);
  } else if (value.is_object()) {
    for (const Json::Member& member : value.members()) {
      bytes += 8 + member.key.size() * 6 + written_at_most(member.value);
    }
  }
  return bytes;
}

}  // namespace

std::size_t written_length(const Json& value) {
  std::string text;
  NotedLengths noted;
  write_json(value, text, noted);
  return text.size() + noted.bytes;
}

std::optional<std::size_t> written_beyond(const Json& value, std::size_t bytes_max) {
  if (written_at_most(value) <= bytes_max) return std::nullopt;
  const std::size_t bytes = written_length(value);
  return bytes > bytes_max ? std::optional(bytes) : std::nullopt;
}

int nesting(const Json& value) {
  if (!value.is_array() && !value.is_object()) return 0;
  if (const JsonNote* const note = value.note()) return note->depth;
  int inner = 0;
  if (value.is_array()) {
    for (const Json& item : value.items()) inner = std::max(inner, nesting(item));
  } else {
    for (const Json::Member& member : value.members()) inner = std::max(inner, nesting(member.value));
  }
  return inner + 1;
}

// The recursion stops at `levels`.
bool is_deeper_than(const Json& value, int levels) {
  if (!value.is_array() && !value.is_object()) return false;
  if (levels <= 0) return true;
  if (const JsonNote* const note = value.note()) return note->depth > levels;
  if (value.is_array()) {
    return std::any_of(value.items().begin(), value.items().end(),
                       [&](const Json& item) { return is_deeper_than(item, levels - 1); });
  }
  return std::any_of(value.members().begin(), value.members().end(),
                     [&](const Json::Member& member) { return is_deeper_than(member.value, levels - 1); });
}

}  // namespace cairn
