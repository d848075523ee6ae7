#include "transport/transports.h"

#include "transport/graphql_transport.h"
#include "transport/http_transport.h"

namespace cairn {

Transports::Transports(EgressPolicy policy, Secrets secrets, HttpLimits limits, HttpSurroundings surroundings)
    : secrets_(std::move(secrets)),
      client_(std::make_unique<HttpClient>(std::move(policy), limits, std::move(surroundings))) {
  secrets_.mask_in_logs();
  transports_.push_back(std::make_shared<HttpTransport>(*client_, secrets_));
  transports_.push_back(std::make_shared<GraphqlTransport>(*client_, secrets_));
}

Transports::~Transports() = default;

Result<void> Transports::add(std::shared_ptr<Transport> transport) {
  for (const auto& known : transports_) {
    if (known->name() == transport->name()) {
      return Error{ErrorCode::conflict, "the transport " + transport->name() + " is already registered"};
    }
  }
  transports_.push_back(std::move(transport));
  return {};
}

std::vector<Transport*> Transports::all() const {
  std::vector<Transport*> list;
  for (const auto& transport : transports_) list.push_back(transport.get());
  return list;
}

std::vector<std::string> Transports::names() const {
  std::vector<std::string> list;
  for (const auto& transport : transports_) list.push_back(transport->name());
  return list;
}

void Transports::stop() { client_->stop(); }

}  // namespace cairn
