// `call: {http: …}`: one request a run (SEMANTICS M1).
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

// What a reply or the lack of one means, the same for everything that is built on HTTP.
TransportAnswer answer_of(Result<HttpReply, HttpProblem> outcome, const HttpCall& call);
// A request that is refused before it is sent.
TransportAnswer refused(const Error& error);

}  // namespace cairn
