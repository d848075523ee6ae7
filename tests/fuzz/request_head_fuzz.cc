// Any bytes as a request: the parser reads the same request from one piece and from two. An accepted request has one
// length only, and headers without line ends.
#include <boost/asio/buffer.hpp>

#include "http/translation.h"
#include "input.h"

namespace {

namespace beast = cairn::http::beast_http;
using Parser = beast::request_parser<beast::string_body>;

struct Outcome {
  bool failed = false;
  bool head = false;
  bool whole = false;
  std::size_t used = 0;
  std::string body;
};

Outcome parse(std::string_view bytes, std::size_t cut, Parser& parser) {
  Outcome outcome;
  parser.header_limit(4096);
  parser.body_limit(4096);
  parser.eager(true);
  for (std::size_t end : {cut, bytes.size()}) {
    for (boost::system::error_code failed; outcome.used < end && !parser.is_done();) {
      const std::size_t used = parser.put(boost::asio::buffer(bytes.data() + outcome.used, end - outcome.used), failed);
      outcome.used += used;
      if (failed == beast::error::need_more) break;
      if (failed) {
        outcome.failed = true;
        return outcome;
      }
      if (used == 0) break;
    }
  }
  outcome.head = parser.is_header_done();
  outcome.whole = parser.is_done();
  outcome.body = parser.get().body();
  return outcome;
}

}  // namespace

void fuzz(std::string_view input) {
  using namespace cairn::http;
  const std::size_t cut = std::min<std::size_t>(cairn::fuzzing::take_byte(input), input.size());
  const Head head = look_at_head(input);
  if (head.bad) return;
  Parser parser;
  const Outcome once = parse(input, input.size(), parser);
  Parser second;
  const Outcome twice = parse(input, cut, second);
  CAIRN_ASSERT(once.failed == twice.failed);
  if (once.failed) return;
  CAIRN_ASSERT(once.head == twice.head && once.whole == twice.whole && once.body == twice.body);
  CAIRN_ASSERT(!once.head || head.whole);
  if (!once.head || ambiguous(parser.get())) return;
  const auto request = head_of(parser.get());
  if (!request) return;
  CAIRN_ASSERT(request->path.starts_with('/') && !request->method.empty());
  int lengths = 0;
  for (const auto& [name, value] : request->headers) {
    CAIRN_ASSERT(name.find_first_of("\r\n: ") == std::string::npos && name == cairn::ascii_lower(name));
    CAIRN_ASSERT(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
    lengths += name == "content-length" || name == "transfer-encoding" ? 1 : 0;
  }
  CAIRN_ASSERT(lengths <= 1);
  for (const auto& [name, value] : request->query) {
    CAIRN_ASSERT(name.find('\0') == std::string::npos && value.find('\0') == std::string::npos);
  }
}
