// The transports of one engine by name: the built-in ones and those that a program adds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/http_client.h"
#include "transport/secrets.h"
#include "transport/transport.h"

namespace cairn {

class Transports {
 public:
  Transports(EgressPolicy policy, Secrets secrets, HttpLimits limits = {}, HttpSurroundings surroundings = {});
  ~Transports();

  // ErrorCode::conflict if the name is taken.
  Result<void> add(std::shared_ptr<Transport> transport);
  std::vector<Transport*> all() const;
  std::vector<std::string> names() const;
  const Secrets& secrets() const { return secrets_; }
  // Cancels the calls in flight; every call has been answered when this returns. Later calls fail.
  void stop();

 private:
  Secrets secrets_;
  std::unique_ptr<HttpClient> client_;
  std::vector<std::shared_ptr<Transport>> transports_;  // shared with the program that added it
};

}  // namespace cairn
