// `call: {http: …}`: one request a run (rule S28).
#pragma once

#include "transport/http_client.h"
#include "transport/secrets.h"
#include "transport/transport.h"

namespace cairn {

class HttpTransport final : public Transport {
 public:
  // Both must outlive the transport.
  HttpTransport(HttpClient& client, const Secrets& secrets) : client_(client), secrets_(secrets) {}

  const std::string& name() const override;
  void send(TransportCall call, Done done) override;

 private:
  HttpClient& client_;
  const Secrets& secrets_;
};

// How many bytes of the response a failed call keeps: enough to see what went wrong.
inline constexpr std::size_t error_excerpt_bytes_max = 2 << 10;
// Returns the leading part that is valid text, cut at a character boundary.
std::string excerpt(std::string_view text, std::size_t bytes_max);

// Translates a reply, or the lack of one, into a result. All transports over HTTP share this function. It masks the
// secrets of the request in everything that the other side returns.
TransportAnswer answer_of(Result<HttpReply, HttpProblem> outcome, const HttpCall& call, const Unsealing& unsealing);
// The answer for a request that is refused before it is sent.
TransportAnswer refused(const Error& error);

}  // namespace cairn
