#include "instance/retry.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/sha256.h"

namespace cairn {
namespace {

bool is_retryable_status(std::string_view digits) {
  int status = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), status);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return true;
  return status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
}

double seconds_of(Duration length) { return static_cast<double>(length.seconds) + length.nanos / 1e9; }

// A fraction in [0, 1), derived from the run and the attempt alone.
double fraction_of(const RunId& run, int failed) {
  const auto digest = sha256(run.value + "#" + std::to_string(failed));
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 4; ++i) bits = (bits << 8) | digest[i];
  return bits / 4294967296.0;
}

}  // namespace

bool is_retryable(const Failure& failure) {
  switch (failure.failure_class) {
    case FailureClass::definition:
    case FailureClass::expression:
    case FailureClass::authorization:
    case FailureClass::business: return false;
    case FailureClass::transport:
    case FailureClass::timeout:
    case FailureClass::consistency: break;
  }
  if (failure.code == "no_handler_registered") return false;
  constexpr std::string_view http = "http_";
  const std::string_view code = failure.code;
  return !code.starts_with(http) || is_retryable_status(code.substr(http.size()));
}

Duration retry_delay(const RunIntent& run, int failed) {
  const double cap = seconds_of(run.cap);
  const double grown = seconds_of(run.backoff) * std::pow(run.factor, std::max(0, failed - 1));
  // NaN and infinity also become the cap.
  const double base = grown < cap ? grown : cap;
  const double delay = base + base * run.jitter * fraction_of(run.id, failed);
  return Duration::of_ms(static_cast<std::int64_t>(std::llround(delay * 1000)));
}

Failure call_timeout(Duration timeout, int attempt) {
  Failure failure;
  failure.failure_class = FailureClass::timeout;
  failure.code = "call_timeout";
  failure.message = "the call took longer than its timeout of " + format_duration(timeout);
  failure.attempt = attempt;
  return failure;
}

}  // namespace cairn
