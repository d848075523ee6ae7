#include "outbox/signature.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/ascii.h"
#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::int64_t age_seconds_max = 300;

std::string signed_text(std::string_view timestamp, const SignedRequest& request) {
  auto headers = request.headers;
  for (auto& header : headers) header.first = ascii_lower(header.first);
  std::sort(headers.begin(), headers.end());
  std::string text;
  text.reserve(request.body.size() + 512);
  text.append(timestamp).append("\n").append(request.target).append("\n");
  for (const auto& [name, value] : headers) text.append(name).append(":").append(value).append("\n");
  return text.append("\n").append(request.body);
}

std::string mac(std::string_view secret, const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  return "v2=" + to_hex({reinterpret_cast<const char*>(digest.data()), size});
}

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

bool is_signed_header(std::string_view name) { return name == "content-type" || name.starts_with("ce-"); }

std::string target_of(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    const std::size_t path = url.find('/', scheme + 3);
    url = path == std::string_view::npos ? std::string_view() : url.substr(path);
  }
  return std::string(url.substr(url.rfind('/') + 1));
}

std::string sign(std::string_view secret, Timestamp at, const SignedRequest& request) {
  return mac(secret, signed_text(std::to_string(at.seconds), request));
}

Result<void> check_signature(std::string_view secret, std::string_view old_secret, std::string_view timestamp,
                             std::string_view signature, const SignedRequest& request, Timestamp now) {
  if (secret.size() < signing_secret_bytes_min) {
    return Error{ErrorCode::not_allowed, "no secret is set to verify signatures"};
  }
  std::int64_t seconds = 0;
  const auto read = std::from_chars(timestamp.data(), timestamp.data() + timestamp.size(), seconds);
  if (timestamp.empty() || read.ec != std::errc() || read.ptr != timestamp.data() + timestamp.size()) {
    return Error{ErrorCode::not_allowed, std::string(timestamp_header) + " is missing or is not a number of seconds"};
  }
  // No difference of the two: it could overflow.
  if (seconds < now.seconds - age_seconds_max || seconds > now.seconds + age_seconds_max) {
    return Error{ErrorCode::not_allowed, "the timestamp is more than five minutes away from the server's clock"};
  }
  const std::string text = signed_text(timestamp, request);
  const bool current = same(signature, mac(secret, text));
  const bool old = old_secret.size() >= signing_secret_bytes_min && same(signature, mac(old_secret, text));
  if (!current && !old) return Error{ErrorCode::not_allowed, "the signature does not match"};
  return {};
}

}  // namespace cairn
