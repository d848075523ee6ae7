#include "base/text.h"

#include <limits>
#include <new>

#include "base/json.h"
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
  const bool noted = value.size() >= noted_min;
  auto* memory = static_cast<char*>(::operator new(sizeof(Heap) + value.size() + (noted ? sizeof(Slot) : 0)));
  if (noted) {
    ::new (memory) Slot(nullptr);
    memory += sizeof(Slot);
  }
  auto* block = ::new (memory) Heap{1, static_cast<std::uint32_t>(value.size())};
  std::memcpy(static_cast<void*>(block + 1), value.data(), value.size());
  std::memcpy(bytes_, &block, sizeof block);
  bytes_[tag_at] = shared_tag;
}

void Text::release() noexcept {
  Heap* block = heap();
  if (block->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block->size < noted_min) return ::operator delete(block);
  Slot* slot = slot_of(block);
  delete slot->load(std::memory_order_relaxed);
  ::operator delete(slot);
}

const JsonNote* Text::note() const noexcept {
  if (!shared() || heap()->size < noted_min) return nullptr;
  return slot_of(heap())->load(std::memory_order_acquire);
}

bool Text::keep_note(std::unique_ptr<JsonNote> note) const noexcept {
  if (!shared() || heap()->size < noted_min) return false;
  const JsonNote* none = nullptr;
  if (slot_of(heap())->compare_exchange_strong(none, note.get(), std::memory_order_acq_rel)) note.release();
  return true;
}

}  // namespace cairn
