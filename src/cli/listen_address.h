// Where a server listens: HOST:PORT, [IPV6]:PORT or PORT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cairn::cli {

struct ListenAddress {
  std::string host;  // without brackets; empty: none was given
  std::uint16_t port = 0;
};
// Nothing when it is none of these.
std::optional<ListenAddress> read_listen_address(const std::string& text);

// The host as it stands in a URL: an IPv6 address has brackets.
std::string url_host(const std::string& host);

}  // namespace cairn::cli
