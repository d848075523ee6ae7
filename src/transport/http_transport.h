// `call: {http: …}`: one request a run (rule S28).
#pragma once

#include "transport/http_client.h"
#include "transport/secrets.h"
#include "transport/transport.h"

namespace cairn {

class HttpTransport final : public Transport {
 public:
  // Both outlive it.
  HttpTransport(HttpClient& client, const Secrets& secrets) : client_(client), secrets_(secrets) {}

  const std::string& name() const override;
  void send(TransportCall call, Done done) override;

 private:
  HttpClient& client_;
  const Secrets& secrets_;
};

// How much of a response is kept when a call fails: enough to see what went wrong.
inline constexpr std::size_t error_excerpt_bytes_max = 2 << 10;
// As much of it as is text, cut where a character ends.
std::string excerpt(std::string_view text, std::size_t bytes_max);

// What a reply or the lack of one means, the same for everything that is built on HTTP. What the other side repeats of
// the secrets that it was sent is masked.
TransportAnswer answer_of(Result<HttpReply, HttpProblem> outcome, const HttpCall& call, const Unsealing& unsealing);
// A request that is refused before it is sent.
TransportAnswer refused(const Error& error);

}  // namespace cairn
