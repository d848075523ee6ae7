// An immutable string that is cheap to copy: up to 14 bytes inline, longer ones shared.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace cairn {

struct JsonNote;

class Text {
 public:
  Text() noexcept { make_empty(); }
  explicit Text(std::string_view value);
  Text(const Text& other) noexcept {
    std::memcpy(bytes_, other.bytes_, sizeof bytes_);
    if (shared()) heap()->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Text(Text&& other) noexcept {
    std::memcpy(bytes_, other.bytes_, sizeof bytes_);
    other.make_empty();
  }
  Text& operator=(Text other) noexcept {
    swap(other);
    return *this;
  }
  ~Text() {
    if (shared()) release();
  }

  void swap(Text& other) noexcept {
    char kept[sizeof bytes_];
    std::memcpy(kept, bytes_, sizeof bytes_);
    std::memcpy(bytes_, other.bytes_, sizeof bytes_);
    std::memcpy(other.bytes_, kept, sizeof bytes_);
  }

  std::string_view view() const noexcept {
    if (shared()) {
      const Heap* block = heap();
      return {reinterpret_cast<const char*>(block + 1), block->size};
    }
    return {bytes_, static_cast<std::size_t>(bytes_[tag_at])};
  }
  operator std::string_view() const noexcept { return view(); }
  // A text of this length and more can have a note (Json::note).
  static constexpr std::size_t noted_min = 1024;
  const JsonNote* note() const noexcept;
  bool keep_note(std::unique_ptr<JsonNote> note) const noexcept;
  std::string str() const { return std::string(view()); }
  std::size_t size() const noexcept { return view().size(); }
  bool empty() const noexcept { return size() == 0; }

  friend bool operator==(const Text& a, const Text& b) noexcept { return a.view() == b.view(); }
  friend bool operator==(const Text& a, std::string_view b) noexcept { return a.view() == b; }
  friend auto operator<=>(const Text& a, const Text& b) noexcept { return a.view() <=> b.view(); }

 private:
  struct Heap {
    std::atomic<std::uint32_t> owners;
    std::uint32_t size;
  };
  // In front of the Heap of a text that can have a note.
  using Slot = std::atomic<const JsonNote*>;
  static Slot* slot_of(Heap* block) noexcept { return reinterpret_cast<Slot*>(block) - 1; }
  static constexpr std::size_t tag_at = 15;
  static constexpr char shared_tag = 127;

  bool shared() const noexcept { return bytes_[tag_at] == shared_tag; }
  Heap* heap() const noexcept {
    Heap* block;
    std::memcpy(&block, bytes_, sizeof block);
    return block;
  }
  void make_empty() noexcept { std::memset(bytes_, 0, sizeof bytes_); }
  void release() noexcept;

  alignas(8) char bytes_[16];
};

}  // namespace cairn
