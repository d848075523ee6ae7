// The items of one array, or the members of one object, that some keyword has already evaluated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::schema {

class Seen {
 public:
  explicit Seen(std::size_t size) {
    if (size > word_bits) more_.resize((size - 1) / word_bits);
  }

  void mark(std::size_t index) { word(index) |= std::uint64_t{1} << (index % word_bits); }
  void mark_all() { all_ = true; }
  bool has(std::size_t index) const {
    return all_ || (const_cast<Seen*>(this)->word(index) >> (index % word_bits) & 1) != 0;
  }
  // Both must describe the same value.
  void merge(const Seen& other) {
    all_ = all_ || other.all_;
    first_ |= other.first_;
    for (std::size_t i = 0; i < more_.size(); ++i) more_[i] |= other.more_[i];
  }

 private:
  static constexpr std::size_t word_bits = 64;

  std::uint64_t& word(std::size_t index) { return index < word_bits ? first_ : more_[index / word_bits - 1]; }

  std::uint64_t first_ = 0;  // most values are small and need no allocation
  std::vector<std::uint64_t> more_;
  bool all_ = false;
};

}  // namespace cairn::schema
