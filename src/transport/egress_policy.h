// The egress policy decides which addresses outgoing calls may reach. It refuses loopback, private, link-local and
// other special addresses unless the configuration names them. The check uses the address of the actual connection, so
// neither a host name, an unusual spelling nor a second DNS answer can bypass it.
#pragma once

#include <netinet/in.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expr/network_address.h"

namespace cairn {

class EgressPolicy {
 public:
  // `allowed` adds to the default, which is https to public addresses. An entry is a network (10.0.0.0/8) or an origin
  // that may be called without TLS: http://intranet.example, http://127.0.0.1:9000 (which allows that address too), or
  // http://* for every host.
  static Result<EgressPolicy> make(const std::vector<std::string>& allowed);
  // Every address, with TLS and without: for servers that the operator named.
  static EgressPolicy everywhere();
  EgressPolicy() = default;

  // `port` is the port of the connection.
  bool allows_plain(std::string_view host, std::uint16_t port) const;
  bool allows(const sockaddr& address) const;
  bool allows(const expr::IpAddress& address) const;

 private:
  struct Origin {
    std::string host;        // * matches every host
    std::uint16_t port = 0;  // 0 matches every port
  };
  std::vector<expr::IpNetwork> networks_;
  std::vector<Origin> plain_;
};

// Splits the comma-separated entries of a flag or an environment variable.
std::vector<std::string> egress_entries(std::string_view text);

// True for addresses that are not on the public internet, in every notation.
bool is_special(const expr::IpAddress& address);

}  // namespace cairn
