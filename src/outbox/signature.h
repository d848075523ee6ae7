// The signature of a webhook, version 2: HMAC-SHA-256, hexadecimal, over
//
//   TIMESTAMP \n TARGET \n NAME:VALUE \n … \n BODY
//
// TIMESTAMP is in seconds since 1970. TARGET is the last segment of the URL's path (a hook's id). The signed headers
// follow in the order of their names, then an empty line and the body. Without the secret it is impossible to change
// the body or a header that affects its meaning, or replay the request to another hook. The receiver verifies the bytes
// as received and compares the timestamp with its own clock.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cairn {

inline constexpr const char* signature_header = "cairn-signature";  // v2=HEX
inline constexpr const char* timestamp_header = "cairn-timestamp";  // seconds
inline constexpr std::size_t signing_secret_bytes_min = 32;

// The signed content. It borrows the body.
struct SignedRequest {
  std::string target;                                        // as returned by target_of
  std::vector<std::pair<std::string, std::string>> headers;  // in any order, names in any case
  std::string_view body;
};

// True for headers that are always signed: `content-type` and those of CloudEvents (`ce-…`). `name` is in lower case.
bool is_signed_header(std::string_view name);
// The last path segment of a URL or a path.
std::string target_of(std::string_view url);

std::string sign(std::string_view secret, Timestamp at, const SignedRequest& request);
// ErrorCode::not_allowed unless the signature matches one of the two secrets and its time differs from now by at most
// five minutes. `old_secret` may be empty. Without a secret every request is refused.
Result<void> check_signature(std::string_view secret, std::string_view old_secret, std::string_view timestamp,
                             std::string_view signature, const SignedRequest& request, Timestamp now);

}  // namespace cairn
