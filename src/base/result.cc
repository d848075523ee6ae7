#include "base/result.h"

namespace cairn {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid: return "invalid";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::not_allowed: return "not_allowed";
    case ErrorCode::limit: return "limit";
    case ErrorCode::unavailable: return "unavailable";
    case ErrorCode::corrupt: return "corrupt";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::internal: return "internal";
  }
  return "unknown";
}

Error with_context(Error error, const std::string& context) {
  error.message = context + ": " + error.message;
  return error;
}

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "cairn: this is a bug: %s does not hold at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace cairn
