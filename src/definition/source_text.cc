#include "definition/source_text.h"

#include <algorithm>

#include "base/utf8.h"

namespace cairn {
namespace {

constexpr std::size_t block_bytes = 256;

}  // namespace

SourceText::SourceText(std::string_view text) : text_(text) {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const char c = text_[i];
    if (static_cast<unsigned char>(c) >= 0x80) ascii_ = false;
    const bool ends_line = c == '\n' || (c == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n'));
    if (ends_line) line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
  }
  if (ascii_) return;
  std::size_t points = 0;
  for (std::size_t i = 0; i < text_.size(); i += block_bytes) {
    block_points_.push_back(static_cast<std::uint32_t>(points));
    points += count_code_points(view().substr(i, block_bytes));
  }
}

std::size_t SourceText::points_before(std::size_t offset) const {
  if (ascii_ || offset == 0) return offset;
  const std::size_t block = std::min(offset / block_bytes, block_points_.size() - 1);
  return block_points_[block] + count_code_points(view().substr(block * block_bytes, offset - block * block_bytes));
}

SourcePlace SourceText::place(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const std::size_t column = points_before(offset) - points_before(*(next - 1));
  return {static_cast<int>(next - line_starts_.begin()), static_cast<int>(column) + 1};
}

std::size_t SourceText::offset_of(std::size_t index) const {
  if (ascii_) return std::min(index, text_.size());
  const auto next = std::upper_bound(block_points_.begin(), block_points_.end(), index);
  const std::size_t block = static_cast<std::size_t>(next - block_points_.begin()) - 1;
  std::size_t offset = block * block_bytes;
  // A block may begin inside a character, which was counted in the block where it began.
  const auto continues = [this](std::size_t at) {
    return at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80;
  };
  while (continues(offset)) ++offset;
  for (std::size_t left = index - block_points_[block]; left > 0 && offset < text_.size(); --left) {
    ++offset;
    while (continues(offset)) ++offset;
  }
  return offset;
}

std::string to_string(SourcePlace place) { return std::to_string(place.line) + ":" + std::to_string(place.column); }

}  // namespace cairn
