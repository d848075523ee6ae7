// Where calls may go. Loopback, private, link-local and other addresses that are nobody's business are
// refused unless the configuration names them, and the question is asked of the address that is really
// connected to, so that neither a name, a spelling nor a second look at the DNS gets around it.
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
  // What is allowed besides https to public addresses. An entry is a network (10.0.0.0/8), or an origin that
  // may be called without TLS: http://intranet.example, http://127.0.0.1:9000 (then that address too),
  // http://* for every host.
  static Result<EgressPolicy> make(const std::vector<std::string>& allowed);
  EgressPolicy() = default;

  // `port` as it is connected to.
  bool allows_plain(std::string_view host, std::uint16_t port) const;
  bool allows(const sockaddr& address) const;
  bool allows(const expr::IpAddress& address) const;

 private:
  struct Origin {
    std::string host;        // * for every one
    std::uint16_t port = 0;  // 0: every one
  };
  std::vector<expr::IpNetwork> networks_;
  std::vector<Origin> plain_;
};

// Entries between commas, as a flag or an environment variable holds them.
std::vector<std::string> egress_entries(std::string_view text);

// Addresses that are not on the public internet, whatever form they are written in.
bool is_special(const expr::IpAddress& address);

}  // namespace cairn
