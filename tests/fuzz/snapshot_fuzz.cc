// Any stored bytes: a snapshot that decodes encodes to something that decodes to the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "instance/snapshot.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto snapshot = cairn::decode_snapshot({reinterpret_cast<const char*>(data), size});
  if (!snapshot) return 0;
  const auto again = cairn::decode_snapshot(cairn::encode_snapshot(*snapshot));
  CAIRN_ASSERT(again.has_value() && *again == *snapshot);
  return 0;
}
