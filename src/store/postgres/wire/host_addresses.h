// Looks up the hosts of a connection before libpq does, because libpq's own lookup has no timeout.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

struct pg_conn;

namespace cairn::postgres {

// Connects as PQconnectdb does, and returns its handle, also of a failed connection. libpq gets an address for each
// host, and keeps the names, which it checks against certificates. The lookup has the connection's own timeout
// (connect_timeout). ErrorCode::unavailable if no host has an address.
Result<pg_conn*> connect(const std::string& conninfo);

// The parameters of libpq that name the hosts: lists of equal length, or one port for all.
struct Hosts {
  std::string host, hostaddr, port;
  bool operator==(const Hosts&) const = default;
};
using Lookup = std::function<Result<std::vector<std::string>>(const std::string& host)>;
// With an address for each host name, and an entry for each address. Unix sockets and addresses stay as they are. A
// name without an address is left out, unless no host remains: then its error is the answer.
Result<Hosts> with_addresses(const Hosts& given, const Lookup& lookup);

}  // namespace cairn::postgres
