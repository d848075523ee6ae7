#include "outbox/signature.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::int64_t age_seconds_max = 300;

std::string mac(std::string_view secret, std::string_view timestamp, std::string_view body) {
  std::string text;
  text.reserve(timestamp.size() + 1 + body.size());
  text.append(timestamp).append(".").append(body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return "v1=" + to_hex({reinterpret_cast<const char*>(digest.data()), size});
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::string sign(std::string_view secret, Timestamp at, std::string_view body) {
  return mac(secret, std::to_string(at.seconds), body);
}

Result<void> check_signature(std::string_view secret, std::string_view old_secret, std::string_view timestamp,
                             std::string_view signature, std::string_view body, Timestamp now) {
  if (secret.size() < signing_secret_bytes_min) {
    return Error{ErrorCode::not_allowed, "there is no secret to check signatures with"};
  }
  std::int64_t seconds = 0;
  const auto read = std::from_chars(timestamp.data(), timestamp.data() + timestamp.size(), seconds);
  if (timestamp.empty() || read.ec != std::errc() || read.ptr != timestamp.data() + timestamp.size()) {
    return Error{ErrorCode::not_allowed, std::string(timestamp_header) + " is missing or no number of seconds"};
  }
  const std::int64_t age = now.seconds - seconds;
  if (age > age_seconds_max || age < -age_seconds_max) {
    return Error{ErrorCode::not_allowed, "the signature is older or newer than five minutes"};
  }
  const bool current = same(signature, mac(secret, timestamp, body));
  const bool old = old_secret.size() >= signing_secret_bytes_min && same(signature, mac(old_secret, timestamp, body));
  if (!current && !old) return Error{ErrorCode::not_allowed, "the signature does not match"};
  return {};
}

}  // namespace cairn
