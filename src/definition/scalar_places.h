// Maps the characters of a scalar to their places in the source (rule X6).
#pragma once

#include <string_view>

#include "definition/program.h"

namespace cairn {

// The byte of `source` where the scalar itself begins, after its anchor and tag.
std::size_t skip_properties(std::string_view source, std::size_t begin, std::size_t end);

// The byte of `source` that produced byte `offset` of the decoded text `value`. The scalar (plain, quoted, literal,
// folded, or JSON text) lies in [begin, end). If the mapping is unknown, the answer is `begin`.
std::size_t source_offset(std::string_view source, std::size_t begin, std::size_t end, std::string_view value,
                          std::size_t offset);

}  // namespace cairn
