// A limit and the bytes of a foreign response: an excerpt is UTF-8 within the limit, and a failed call keeps no more of
// the response than that.
#include "base/utf8.h"
#include "input.h"
#include "transport/http_transport.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  const std::size_t bytes_max = fuzzing::take_byte(input);
  const std::string cut = excerpt(input, bytes_max);
  CAIRN_ASSERT(cut.size() <= bytes_max && is_utf8(cut) && cut.find('\0') == std::string::npos);
  CAIRN_ASSERT(input.starts_with(cut));
  if (is_utf8(input) && input.find('\0') == std::string_view::npos) {
    CAIRN_ASSERT(cut.size() + 4 > std::min(bytes_max, input.size()));
  }
  static const Secrets none;
  const Unsealing unsealing(none, false);
  HttpReply reply;
  reply.status = 200 + fuzzing::take_byte(input);
  reply.headers = fuzzing::take_headers(input);
  reply.body = std::string(input);
  HttpCall call;
  call.full_response = bytes_max % 2 == 0;
  const TransportAnswer answer = answer_of(Result<HttpReply, HttpProblem>(reply), call, unsealing);
  if (answer.retry_after) {
    CAIRN_ASSERT(!answer.retry_after->negative() && answer.retry_after->seconds <= 86'400);
  }
  if (answer.failure) {
    CAIRN_ASSERT(write_json(answer.failure->details).size() <= 8 * error_excerpt_bytes_max);
    CAIRN_ASSERT(answer.failure->details.text_or("body", "").size() <= error_excerpt_bytes_max);
  } else {
    CAIRN_ASSERT(parse_json(write_json(answer.result)).has_value() || input.size() > 1'000);
  }
}
