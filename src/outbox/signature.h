// The signature of a webhook: HMAC-SHA-256 over `TIMESTAMP.BODY`, with the time in seconds since 1970. Whoever
// receives it checks the same bytes that came in, and that the time is near its own.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace cairn {

inline constexpr const char* signature_header = "cairn-signature";  // v1=HEX
inline constexpr const char* timestamp_header = "cairn-timestamp";  // seconds
inline constexpr std::size_t signing_secret_bytes_min = 32;

std::string sign(std::string_view secret, Timestamp at, std::string_view body);
// ErrorCode::not_allowed unless one of the two secrets (the second may be empty: there is none) made it, and it is not
// older or newer than five minutes. Without a secret nothing is accepted.
Result<void> check_signature(std::string_view secret, std::string_view old_secret, std::string_view timestamp,
                             std::string_view signature, std::string_view body, Timestamp now);

}  // namespace cairn
