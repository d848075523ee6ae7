#include "base/text.h"

#include <limits>
#include <new>

#include "base/result.h"

namespace cairn {

Text::Text(std::string_view value) {
  make_empty();
  if (value.size() < tag_at) {
    std::memcpy(bytes_, value.data(), value.size());
    bytes_[tag_at] = static_cast<char>(value.size());
    return;
  }
  CAIRN_ASSERT(value.size() <= std::numeric_limits<std::uint32_t>::max());
  void* memory = ::operator new(sizeof(Heap) + value.size());
  auto* block = ::new (memory) Heap{1, static_cast<std::uint32_t>(value.size())};
  std::memcpy(static_cast<void*>(block + 1), value.data(), value.size());
  std::memcpy(bytes_, &block, sizeof block);
  bytes_[tag_at] = shared_tag;
}

void Text::release() noexcept {
  Heap* block = heap();
  if (block->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) ::operator delete(block);
}

}  // namespace cairn
