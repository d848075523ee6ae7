// Any JSON as `call.http` of a definition: an accepted request has a printable URL and headers that stay on one line,
// and the definition cannot set those of the client.
#include "transport/http_call.h"

#include "base/ascii.h"
#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  const auto json = parse_json(input);
  if (!json) return;
  static const Secrets secrets({{"key", {"VALUE\r\nx: y", {}}}});
  Unsealing unsealing(secrets, true);
  TransportCall call;
  call.run = {"run"};
  call.idempotency_key = "key";
  const auto http = read_http_call(*json, call, unsealing);
  if (!http) {
    CAIRN_ASSERT(http.error().message.find("VALUE") == std::string::npos);
    return;
  }
  CAIRN_ASSERT(!http->url.empty());
  for (const char c : http->url) CAIRN_ASSERT(c > 0x20 && c < 0x7f && c != '\\');
  int lengths = 0;
  for (const auto& [name, value] : http->headers) {
    CAIRN_ASSERT(!name.empty() && name.find_first_of("\r\n: ") == std::string::npos);
    CAIRN_ASSERT(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
    const std::string lower = ascii_lower(name);
    CAIRN_ASSERT(lower != "host" && lower != "content-length" && lower != "transfer-encoding");
    lengths += lower == "idempotency-key" || lower == "traceparent" ? 1 : 0;
  }
  CAIRN_ASSERT(lengths == 2);
  CAIRN_ASSERT(http->has_body || http->body.empty());
}
