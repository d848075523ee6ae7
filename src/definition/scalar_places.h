// Where the characters of a scalar stand in the source (SEMANTICS X6).
#pragma once

#include <string_view>

#include "definition/program.h"

namespace cairn {

// The byte of `source` where the scalar itself begins: past the anchor and tag before it.
std::size_t skip_properties(std::string_view source, std::size_t begin, std::size_t end);

// The byte of `source` at which byte `offset` of the decoded text `value` was written. The scalar
// (plain, quoted, literal, folded, or JSON text) lies in [begin, end). What cannot be followed is
// taken to stand at `begin`.
std::size_t source_offset(std::string_view source, std::size_t begin, std::size_t end, std::string_view value,
                          std::size_t offset);

}  // namespace cairn
