// IP addresses and networks (CIDR).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::expr {

struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  // IPv4 uses the first four
  bool v6 = false;

  // Parses an address without a zone; empty if it is invalid.
  static std::optional<IpAddress> parse(std::string_view text);
  std::string text() const;  // canonical
  std::size_t size() const { return v6 ? 16 : 4; }
  // Converts an IPv4 address inside IPv6 (::ffff:a.b.c.d) to IPv4.
  IpAddress unmapped() const;
  bool unspecified() const;
  bool loopback() const;
  bool global_unicast() const;
  bool link_local_multicast() const;
  bool link_local_unicast() const;
  bool operator==(const IpAddress&) const = default;
};

struct IpNetwork {
  IpAddress address;
  std::int32_t prefix = 0;

  static std::optional<IpNetwork> parse(std::string_view text);
  std::string text() const;
  IpNetwork masked() const;
  bool contains(const IpAddress& other) const;
  bool contains(const IpNetwork& other) const;
  bool operator==(const IpNetwork&) const = default;
};

}  // namespace cairn::expr
