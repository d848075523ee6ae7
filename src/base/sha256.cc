#include "base/sha256.h"

#include <openssl/evp.h>

#include <memory>

#include "base/result.h"

namespace cairn {

std::array<std::uint8_t, 32> sha256(std::string_view bytes) {
  // The algorithm is looked up once. The one-call form looks it up by name each time, which costs more than hashing a
  // kilobyte.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  // Each thread creates its context once, because creating one costs as much as hashing a short text.
  static thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                                            &EVP_MD_CTX_free);
  std::array<std::uint8_t, 32> digest{};
  CAIRN_ASSERT(EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1 &&
               EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
               EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
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
