#include "base/sha256.h"

#include <openssl/evp.h>

#include "base/result.h"

namespace cairn {

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  // Looked up once: the one-call form finds the algorithm by its name each time, which costs more than hashing a
  // kilobyte.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  std::array<std::uint8_t, 32> digest{};
  CAIRN_ASSERT(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm, nullptr) == 1);
  return digest;
}

std::string to_hex(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out(bytes.size() * 2, '0');
  std::size_t at = 0;
  for (const char byte : bytes) {
    out[at++] = digits[static_cast<unsigned char>(byte) >> 4];
    out[at++] = digits[static_cast<unsigned char>(byte) & 15];
  }
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  const auto digest = sha256(bytes);
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace cairn
