#include "expr/network_address.h"

#include <algorithm>
#include <charconv>

namespace cairn::expr {

namespace {

std::optional<IpAddress> parse_v4(std::string_view text) {
  IpAddress result;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t end = i < 3 ? text.find('.') : text.size();
    if (end == std::string_view::npos || end == 0 || end > 3 || (end > 1 && text[0] == '0')) return std::nullopt;
    unsigned value = 0;  // a signed one would accept "-0"
    const auto read = std::from_chars(text.data(), text.data() + end, value);
    if (read.ec != std::errc() || read.ptr != text.data() + end || value > 255) return std::nullopt;
    result.bytes[i] = static_cast<std::uint8_t>(value);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  if (!text.empty()) return std::nullopt;
  return result;
}

std::optional<IpAddress> parse_v6(std::string_view text) {
  IpAddress result;
  result.v6 = true;
  std::size_t filled = 0;
  std::optional<std::size_t> gap;
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
  } else if (text.starts_with(':')) {
    return std::nullopt;
  }
  while (!text.empty()) {
    if (filled == 16) return std::nullopt;
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    if (colon == std::string_view::npos && part.find('.') != std::string_view::npos) {
      const auto inner = parse_v4(part);
      if (!inner || filled > 12) return std::nullopt;
      std::copy_n(inner->bytes.begin(), 4, result.bytes.begin() + static_cast<std::ptrdiff_t>(filled));
      filled += 4;
      break;
    }
    unsigned value = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), value, 16);
    if (part.empty() || part.size() > 4 || read.ec != std::errc() || read.ptr != part.data() + part.size())
      return std::nullopt;
    result.bytes[filled++] = static_cast<std::uint8_t>(value >> 8);
    result.bytes[filled++] = static_cast<std::uint8_t>(value & 0xFF);
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
    if (text.starts_with(':')) {
      if (gap) return std::nullopt;
      gap = filled;
      text.remove_prefix(1);
    } else if (text.empty()) {
      return std::nullopt;
    }
  }
  if (!gap) return filled == 16 ? std::optional(result) : std::nullopt;
  if (filled == 16) return std::nullopt;
  const auto from = result.bytes.begin() + static_cast<std::ptrdiff_t>(*gap);
  const auto end = result.bytes.begin() + static_cast<std::ptrdiff_t>(filled);
  std::copy_backward(from, end, result.bytes.end());
  std::fill(from, from + static_cast<std::ptrdiff_t>(16 - filled), std::uint8_t{0});
  return result;
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  return text.find(':') == std::string_view::npos ? parse_v4(text) : parse_v6(text);
}

std::string IpAddress::text() const {
  std::string out;
  if (!v6) {
    for (std::size_t i = 0; i < 4; ++i) out += (i > 0 ? "." : "") + std::to_string(bytes[i]);
    return out;
  }
  if (unmapped().v6 == false) return "::ffff:" + unmapped().text();
  const auto group = [&](std::size_t i) { return bytes[2 * i] << 8 | bytes[2 * i + 1]; };
  // The longest run of at least two zero groups is written as ::. If runs are equally long, the first one.
  std::size_t best = 8;
  std::size_t best_length = 1;
  for (std::size_t i = 0; i < 8;) {
    std::size_t end = i;
    while (end < 8 && group(end) == 0) ++end;
    if (end - i > best_length) {
      best = i;
      best_length = end - i;
    }
    i = std::max(end, i + 1);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      out += "::";
      i += best_length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    char digits[8];
    const auto written = std::to_chars(digits, digits + sizeof digits, group(i), 16);
    out.append(digits, written.ptr);
  }
  return out;
}

IpAddress IpAddress::unmapped() const {
  if (!v6 || bytes[10] != 0xFF || bytes[11] != 0xFF) return *this;
  if (std::any_of(bytes.begin(), bytes.begin() + 10, [](std::uint8_t b) { return b != 0; })) return *this;
  IpAddress result;
  std::copy_n(bytes.begin() + 12, 4, result.bytes.begin());
  return result;
}

bool IpAddress::unspecified() const {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
}
bool IpAddress::loopback() const {
  if (!v6) return bytes[0] == 127;
  return bytes[15] == 1 && std::all_of(bytes.begin(), bytes.begin() + 15, [](std::uint8_t b) { return b == 0; });
}
bool IpAddress::link_local_multicast() const {
  if (!v6) return bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0;
  return bytes[0] == 0xFF && (bytes[1] & 0x0F) == 0x02;
}
bool IpAddress::link_local_unicast() const {
  if (!v6) return bytes[0] == 169 && bytes[1] == 254;
  return bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80;
}
bool IpAddress::global_unicast() const {
  const bool multicast = v6 ? bytes[0] == 0xFF : bytes[0] >= 224 && bytes[0] <= 239;
  const bool broadcast = !v6 && std::all_of(bytes.begin(), bytes.begin() + 4, [](std::uint8_t b) { return b == 255; });
  return !unspecified() && !loopback() && !multicast && !broadcast && !link_local_unicast();
}

std::optional<IpNetwork> IpNetwork::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = IpAddress::parse(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  if (!address || digits.empty() || digits.size() > 3 || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  std::uint32_t prefix = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || prefix > address->size() * 8) {
    return std::nullopt;
  }
  return IpNetwork{*address, static_cast<std::int32_t>(prefix)};
}

std::string IpNetwork::text() const { return address.text() + "/" + std::to_string(prefix); }

IpNetwork IpNetwork::masked() const {
  IpNetwork result = *this;
  for (std::size_t i = 0; i < 16; ++i) {
    const std::int32_t left = prefix - static_cast<std::int32_t>(i) * 8;
    if (left >= 8) continue;
    result.address.bytes[i] =
        left <= 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(result.address.bytes[i] & (0xFF << (8 - left)));
  }
  return result;
}

bool IpNetwork::contains(const IpAddress& other) const {
  if (other.v6 != address.v6) return false;
  return IpNetwork{other, prefix}.masked().address == masked().address;
}
bool IpNetwork::contains(const IpNetwork& other) const { return other.prefix >= prefix && contains(other.address); }

}  // namespace cairn::expr
