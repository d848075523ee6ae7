// The signature of a webhook, version 2: HMAC-SHA-256, hexadecimal, over
//
//   TIMESTAMP \n TARGET \n NAME:VALUE \n … \n BODY
//
// with the time in seconds since 1970, the last segment of the URL's path (a hook's id), the signed headers in the
// order of their names, an empty line, and the body. So neither the body nor anything that decides what becomes of it
// can be changed or sent to another hook. Whoever receives it checks the same bytes that came in, and that the time is
// near its own.
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

// What a signature covers; it borrows the body.
struct SignedRequest {
  std::string target;                                        // see target_of
  std::vector<std::pair<std::string, std::string>> headers;  // in any order, names in any case
  std::string_view body;
};

// Headers that are always signed: `content-type` and those of CloudEvents (`ce-…`). In lower case.
bool is_signed_header(std::string_view name);
// The last segment of a URL's path, or of a path.
std::string target_of(std::string_view url);

std::string sign(std::string_view secret, Timestamp at, const SignedRequest& request);
// ErrorCode::not_allowed unless one of the two secrets (the second may be empty: there is none) made it, and it is not
// older or newer than five minutes. Without a secret nothing is accepted.
Result<void> check_signature(std::string_view secret, std::string_view old_secret, std::string_view timestamp,
                             std::string_view signature, const SignedRequest& request, Timestamp now);

}  // namespace cairn
