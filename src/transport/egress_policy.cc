#include "transport/egress_policy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/ascii.h"

namespace cairn {

using expr::IpAddress;
using expr::IpNetwork;

namespace {

// IANA's special-purpose registries, and the IPv6 ranges that embed IPv4 networks.
constexpr std::string_view special_networks[] = {
    "0.0.0.0/8",      "10.0.0.0/8",   "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24",   "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",  "198.51.100.0/24",
    "203.0.113.0/24", "224.0.0.0/4",  "240.0.0.0/4",    "::/128",         "::1/128",        "64:ff9b:1::/48",
    "100::/64",       "2001::/23",    "2001:db8::/32",  "3fff::/20",      "5f00::/16",      "fc00::/7",
    "fe80::/10",      "fec0::/10",    "ff00::/8",
};

const std::vector<IpNetwork>& special() {
  static const std::vector<IpNetwork> networks = [] {
    std::vector<IpNetwork> list;
    for (const std::string_view text : special_networks) {
      const auto network = IpNetwork::parse(text);
      CAIRN_ASSERT(network.has_value());
      list.push_back(*network);
    }
    return list;
  }();
  return networks;
}

IpAddress ipv4_at(const IpAddress& address, std::size_t offset) {
  IpAddress inner;
  std::copy_n(address.bytes.begin() + static_cast<std::ptrdiff_t>(offset), 4, inner.bytes.begin());
  return inner;
}

bool begins_with(const IpAddress& address, std::initializer_list<std::uint8_t> bytes) {
  return std::equal(bytes.begin(), bytes.end(), address.bytes.begin());
}

// The IPv4 address that packets to this address reach: mapped, compatible, NAT64 or 6to4.
std::optional<IpAddress> embedded_ipv4(const IpAddress& address) {
  if (!address.v6) return std::nullopt;
  const bool zeros =
      std::all_of(address.bytes.begin(), address.bytes.begin() + 10, [](auto byte) { return byte == 0; });
  const bool mapped = zeros && address.bytes[10] == 0xff && address.bytes[11] == 0xff;
  const bool compatible = zeros && address.bytes[10] == 0 && address.bytes[11] == 0;
  const bool translated = zeros ? false
                                : begins_with(address, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}) ||
                                      begins_with(address, {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0});
  if (mapped || compatible || translated) return ipv4_at(address, 12);
  if (begins_with(address, {0x20, 0x02})) return ipv4_at(address, 2);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> egress_entries(std::string_view text) {
  std::vector<std::string> entries;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    std::string_view entry = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    while (!entry.empty() && entry.front() == ' ') entry.remove_prefix(1);
    while (!entry.empty() && entry.back() == ' ') entry.remove_suffix(1);
    if (!entry.empty()) entries.emplace_back(entry);
  }
  return entries;
}

bool is_special(const IpAddress& address) {
  if (const auto inner = embedded_ipv4(address); inner && is_special(*inner)) return true;
  return std::any_of(special().begin(), special().end(),
                     [&](const IpNetwork& network) { return network.contains(address); });
}

Result<EgressPolicy> EgressPolicy::make(const std::vector<std::string>& allowed) {
  EgressPolicy policy;
  constexpr std::string_view plain = "http://";
  for (const std::string& entry : allowed) {
    if (!entry.starts_with(plain)) {
      auto network = IpNetwork::parse(entry);
      if (!network) {
        if (const auto address = IpAddress::parse(entry)) network = IpNetwork{*address, address->v6 ? 128 : 32};
      }
      if (!network) {
        return Error{ErrorCode::invalid, "egress: \"" + entry + "\" is neither a network (10.0.0.0/8) nor http://HOST"};
      }
      policy.networks_.push_back(*network);
      continue;
    }
    Origin origin;
    std::string rest = ascii_lower(std::string_view(entry).substr(plain.size()));
    const std::size_t colon = rest.rfind(':');
    const std::size_t bracket = rest.rfind(']');
    if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
      const std::string digits = rest.substr(colon + 1);
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), origin.port);
      if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || origin.port == 0) {
        return Error{ErrorCode::invalid, "egress: \"" + entry + "\" has an invalid port; use 1 to 65535"};
      }
      rest.resize(colon);
    }
    if (rest.size() > 2 && rest.front() == '[' && rest.back() == ']') rest = rest.substr(1, rest.size() - 2);
    if (rest.empty() || rest.find('/') != std::string::npos) {
      return Error{ErrorCode::invalid, "egress: \"" + entry + "\" is not http://HOST or http://HOST:PORT"};
    }
    if (const auto address = IpAddress::parse(rest)) {
      policy.networks_.push_back({*address, address->v6 ? 128 : 32});
    }
    origin.host = rest;
    policy.plain_.push_back(std::move(origin));
  }
  return policy;
}

EgressPolicy EgressPolicy::everywhere() {
  auto policy = make({"0.0.0.0/0", "::/0", "http://*"});
  CAIRN_ASSERT(policy.has_value());
  return std::move(*policy);
}

bool EgressPolicy::allows_plain(std::string_view host, std::uint16_t port) const {
  const std::string name = ascii_lower(host);
  return std::any_of(plain_.begin(), plain_.end(), [&](const Origin& origin) {
    return (origin.host == "*" || origin.host == name) && (origin.port == 0 || origin.port == port);
  });
}

bool EgressPolicy::allows(const IpAddress& address) const {
  if (!is_special(address)) return true;
  const IpAddress plain = address.unmapped();
  return std::any_of(networks_.begin(), networks_.end(),
                     [&](const IpNetwork& network) { return network.contains(plain); });
}

bool EgressPolicy::allows(const sockaddr& address) const {
  IpAddress ip;
  if (address.sa_family == AF_INET) {
    std::memcpy(ip.bytes.data(), &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
  } else if (address.sa_family == AF_INET6) {
    ip.v6 = true;
    std::memcpy(ip.bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
  } else {
    return false;
  }
  return allows(ip);
}

}  // namespace cairn
