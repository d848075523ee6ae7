#include "cli/listen_address.h"

#include <charconv>

namespace cairn::cli {

std::optional<ListenAddress> read_listen_address(const std::string& text) {
  ListenAddress address;
  std::string port = text;
  if (text.starts_with('[')) {
    const std::size_t end = text.find("]:");
    if (end == std::string::npos) return std::nullopt;
    address.host = text.substr(1, end - 1);
    port = text.substr(end + 2);
  } else if (const std::size_t colon = text.rfind(':'); colon != std::string::npos) {
    address.host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (address.host.find_first_of("[]") != std::string::npos) return std::nullopt;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || read.ec != std::errc() || read.ptr != port.data() + port.size()) return std::nullopt;
  return address;
}

std::string url_host(const std::string& host) { return host.find(':') == std::string::npos ? host : "[" + host + "]"; }

}  // namespace cairn::cli
