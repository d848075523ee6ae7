// A webhook request: its own signature passes, and every change to timestamp, target, headers or body is noticed.
#include "outbox/signature.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  constexpr std::string_view secret = "01234567890123456789012345678901";
  const std::string timestamp(fuzzing::take_line(input));
  const std::string signature(fuzzing::take_line(input));
  const std::string url(fuzzing::take_line(input));
  SignedRequest request{target_of(url), fuzzing::take_headers(input), input};
  CAIRN_ASSERT(request.target.find('/') == std::string::npos);
  const Timestamp now{1'700'000'000, 0};
  CAIRN_ASSERT(!check_signature(secret, "", timestamp, signature, request, now));
  const std::string good = sign(secret, now, request);
  CAIRN_ASSERT(good.size() == 3 + 64);
  CAIRN_ASSERT(check_signature(secret, "", "1700000000", good, request, now).has_value());
  CAIRN_ASSERT(check_signature(std::string(32, 'n'), secret, "1700000000", good, request, now).has_value());
  CAIRN_ASSERT(!check_signature(std::string(32, 'n'), "", "1700000000", good, request, now));
  // A timestamp in another spelling is another text.
  if (timestamp != "1700000000") CAIRN_ASSERT(!check_signature(secret, "", timestamp, good, request, now));
  const std::string longer = std::string(input) + "x";
  SignedRequest other = request;
  other.body = longer;
  CAIRN_ASSERT(!check_signature(secret, "", "1700000000", good, other, now));
  other = request;
  other.target += "x";
  CAIRN_ASSERT(!check_signature(secret, "", "1700000000", good, other, now));
  other = request;
  other.headers.emplace_back("ce-id", "1");
  CAIRN_ASSERT(!check_signature(secret, "", "1700000000", good, other, now));
}
