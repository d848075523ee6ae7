// SHA-256 (OpenSSL's).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace cairn {

std::array<std::uint8_t, 32> sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);
std::string to_hex(std::string_view bytes);

}  // namespace cairn
