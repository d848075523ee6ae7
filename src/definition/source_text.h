// The characters of a definition and the place of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "definition/program.h"

namespace cairn {

// Valid UTF-8 without its byte order mark. The cost of a lookup does not depend on the position, so a file of one long
// line is read in linear time too.
class SourceText {
 public:
  SourceText() = default;
  explicit SourceText(std::string_view text);

  std::string_view view() const { return text_; }
  // Line and column (from 1, columns in code points) of a byte; the end of the text when past it.
  SourcePlace place(std::size_t offset) const;
  // The byte at which code point number `index` (from 0) begins.
  std::size_t offset_of(std::size_t index) const;

 private:
  std::size_t points_before(std::size_t offset) const;

  std::string text_;
  bool ascii_ = true;
  std::vector<std::uint32_t> line_starts_{0};
  std::vector<std::uint32_t> block_points_;  // code points before each block of the text
};

// "3:14", for messages that name a second place.
std::string to_string(SourcePlace place);

}  // namespace cairn
