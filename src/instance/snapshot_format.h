// The envelope of an encoded snapshot, the same in every format: {"checksum":"…","format":N,"snapshot":{…}}. The
// checksum covers the bytes of the inner object, and from format 2 on the digit of the format after them.
#pragma once

#include <string>
#include <string_view>

namespace cairn {

inline constexpr std::string_view snapshot_head = R"({"checksum":")";
inline constexpr std::size_t snapshot_checksum_length = 16;
inline constexpr std::string_view snapshot_format_key = R"(","format":)";
inline constexpr std::string_view snapshot_body_key = R"(,"snapshot":)";

// The first 16 hexadecimal digits of the SHA-256.
std::string snapshot_checksum(std::string_view covered);

}  // namespace cairn
