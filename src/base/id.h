// Ids of distinct types, and the functions that create ids.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace cairn {

template <class Tag>
struct Id {
  std::string value;
  bool empty() const { return value.empty(); }
  auto operator<=>(const Id&) const = default;
};

using InstanceId = Id<struct InstanceTag>;
using TaskId = Id<struct TaskTag>;
using RunId = Id<struct RunTag>;
using WaitToken = Id<struct WaitTag>;
using EventId = Id<struct EventTag>;

// Creates a UUID version 7. It sorts by time and has 74 random bits.
std::string new_uuid(Timestamp now);
// Creates `count` of them in ascending order, so that an index appends them at its end.
std::vector<std::string> new_uuids(Timestamp now, std::size_t count);

// Creates a UUID (version 8) from `parent` and `name` alone. The same arguments give the same id on every machine and
// on every replay.
std::string derived_uuid(std::string_view parent, std::string_view name);
std::string derived_uuid(std::string_view parent, std::string_view name, std::uint64_t counter);

// 8-4-4-4-12 hexadecimal digits, any case.
bool is_uuid(std::string_view text);
// The same in lower case only, which is how cairn writes them.
bool is_plain_uuid(std::string_view text);

// The 16 bytes that the text of a UUID encodes.
using UuidBytes = std::array<std::uint8_t, 16>;
UuidBytes uuid_bytes(std::string_view uuid);

}  // namespace cairn

template <class Tag>
struct std::hash<cairn::Id<Tag>> {
  std::size_t operator()(const cairn::Id<Tag>& id) const noexcept { return std::hash<std::string>()(id.value); }
};
