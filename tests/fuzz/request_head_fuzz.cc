// Any bytes as a request: the parser reads the same body from one piece and from two. An accepted request has one
// length only, and headers without line ends. As in the server, the parser gets a head only when all of it has arrived.
#include <boost/asio/buffer.hpp>

#include "http/translation.h"
#include "input.h"

namespace {

namespace beast = cairn::http::beast_http;
using Parser = beast::request_parser<beast::string_body>;

struct Outcome {
  bool failed = false;
  bool whole = false;
  std::size_t used = 0;
  std::string body;
};

// Reads the head from the first `cut` bytes, then the body from all.
Outcome parse(std::string_view bytes, std::size_t cut, Parser& parser) {
  Outcome outcome;
  parser.header_limit(4096);
  parser.body_limit(boost::none);
  boost::system::error_code failed;
  outcome.used = parser.put(boost::asio::buffer(bytes.data(), cut), failed);
  outcome.failed = failed || !parser.is_header_done();
  if (outcome.failed) return outcome;
  parser.eager(true);
  parser.body_limit(4096);
  for (const std::size_t end : {cut, bytes.size()}) {
    while (!parser.is_done() && cairn::http::may_parse(parser, bytes.substr(outcome.used, end - outcome.used))) {
      const std::size_t used = parser.put(boost::asio::buffer(bytes.data() + outcome.used, end - outcome.used), failed);
      outcome.used += used;
      if (failed == beast::error::need_more) break;
      outcome.failed = static_cast<bool>(failed);
      if (failed) return outcome;
      if (used == 0) break;
    }
  }
  outcome.whole = parser.is_done();
  outcome.body = parser.get().body();
  return outcome;
}

}  // namespace

void fuzz(std::string_view input) {
  using namespace cairn::http;
  const std::size_t first = cairn::fuzzing::take_byte(input);
  const Head head = look_at_head(input);
  if (head.bad || !head.whole) return;
  const std::size_t cut = std::min(std::max(input.find("\r\n\r\n") + 4, first), input.size());
  Parser parser;
  const Outcome once = parse(input, input.size(), parser);
  Parser second;
  const Outcome twice = parse(input, cut, second);
  CAIRN_ASSERT(once.failed == twice.failed);
  if (once.failed) return;
  CAIRN_ASSERT(once.whole == twice.whole && (!once.whole || once.body == twice.body));
  if (ambiguous(parser.get())) return;
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
