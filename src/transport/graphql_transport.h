// `call: {graphql: …}` sends a POST of {query, variables, operationName} and returns `data`. Any error that the server
// reports fails the call, because a workflow must not continue with half a result.
#pragma once

#include "transport/http_transport.h"
#include "transport/secrets.h"
#include "transport/transport.h"

namespace cairn {

class GraphqlTransport final : public Transport {
 public:
  // Both must outlive the transport.
  GraphqlTransport(HttpClient& client, const Secrets& secrets) : http_(client, secrets) {}

  const std::string& name() const override;
  void send(TransportCall call, Done done) override;

 private:
  HttpTransport http_;
};

}  // namespace cairn
