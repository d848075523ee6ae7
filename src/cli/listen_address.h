// The listen address of a server: HOST:PORT, [IPV6]:PORT or PORT.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cairn::cli {

struct ListenAddress {
  std::string host;  // without brackets; empty: not given
  std::uint16_t port = 0;
};
// Empty if the text has none of these forms.
std::optional<ListenAddress> read_listen_address(const std::string& text);

// The host in URL syntax: an IPv6 address has brackets.
std::string url_host(const std::string& host);

}  // namespace cairn::cli
