// Any text: JSON that is accepted comes back the same after writing, plainly and for people.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = cairn::parse_json({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  const auto again = cairn::parse_json(cairn::write_json(*value));
  CAIRN_ASSERT(again.has_value() && *again == *value);
  const auto pretty = cairn::parse_json(cairn::write_json_pretty(*value));
  CAIRN_ASSERT(pretty.has_value() && *pretty == *value);
  return 0;
}
