#include "base/json_size.h"

namespace cairn {

namespace {

// An upper bound for the written length: every character may need an escape of six bytes.
std::size_t written_at_most(const Json& value) {
  std::size_t bytes = 32;  // a number, brackets, a comma
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

std::optional<std::size_t> written_beyond(const Json& value, std::size_t bytes_max) {
  if (written_at_most(value) <= bytes_max) return std::nullopt;
  const std::size_t bytes = write_json(value).size();
  return bytes > bytes_max ? std::optional(bytes) : std::nullopt;
}

}  // namespace cairn
