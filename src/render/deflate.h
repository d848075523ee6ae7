// Compression for PNG: RFC 1950 and 1951 with the fixed code. Pictures of boxes and lines need no more, and the bytes
// are the same with every system library.
#pragma once

#include <string>
#include <string_view>

namespace cairn::render {

std::string zlib_compress(std::string_view bytes);

}  // namespace cairn::render
