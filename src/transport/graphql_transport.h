// `call: {graphql: …}`: a POST of {query, variables, operationName}; the result is `data`. Errors that the
// server reports are a failure, because a workflow that goes on with half an answer helps nobody.
#pragma once

#include "transport/http_transport.h"
#include "transport/secrets.h"
#include "transport/transport.h"

namespace cairn {

class GraphqlTransport final : public Transport {
 public:
  // Both outlive it.
  GraphqlTransport(HttpClient& client, const Secrets& secrets) : http_(client, secrets) {}

  const std::string& name() const override;
  void send(TransportCall call, Done done) override;

 private:
  HttpTransport http_;
};

}  // namespace cairn
