// Any text as an address: accepted if the system accepts it, with the same bytes, and its text reads back the same. The
// second line is a network: it contains an address exactly if the masked bits are equal.
#include "expr/network_address.h"

#include <arpa/inet.h>

#include <cstring>

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::expr;
  const std::string text(cairn::fuzzing::take_line(input));
  const auto address = IpAddress::parse(text);
  if (address) {
    std::uint8_t bytes[16] = {};
    CAIRN_ASSERT(inet_pton(address->v6 ? AF_INET6 : AF_INET, text.c_str(), bytes) == 1);
    CAIRN_ASSERT(std::memcmp(bytes, address->bytes.data(), address->size()) == 0);
    CAIRN_ASSERT(IpAddress::parse(address->text()) == address);
    CAIRN_ASSERT(address->unmapped().unmapped() == address->unmapped());
  }
  const auto network = IpNetwork::parse(input);
  if (!network) return;
  CAIRN_ASSERT(network->prefix >= 0 && network->prefix <= static_cast<int>(network->address.size()) * 8);
  CAIRN_ASSERT(IpNetwork::parse(network->text()) == network);
  CAIRN_ASSERT(network->contains(*network) && network->contains(network->address));
  CAIRN_ASSERT(network->masked().masked() == network->masked() && network->contains(network->masked().address));
  if (!address || address->v6 != network->address.v6) return;
  bool same = true;
  for (std::int32_t bit = 0; bit < network->prefix; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    same = same && ((address->bytes[at] ^ network->address.bytes[at]) >> (7 - bit % 8) & 1) == 0;
  }
  CAIRN_ASSERT(network->contains(*address) == same);
}
