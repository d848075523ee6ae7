// An address on the first line, entries of the egress policy after it: without an entry no special address is allowed,
// in no notation, and an entry allows what it names only.
#include "transport/egress_policy.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  const auto address = expr::IpAddress::parse(fuzzing::take_line(input));
  if (address) {
    const auto& b = address->bytes;
    const bool loopback = !address->v6 && b[0] == 127;
    const bool own = !address->v6 && (b[0] == 10 || (b[0] == 172 && b[1] / 16 == 1) || (b[0] == 192 && b[1] == 168));
    const bool link = !address->v6 && b[0] == 169 && b[1] == 254;
    if (loopback || own || link) CAIRN_ASSERT(is_special(*address));
    if (!address->v6) {
      // The same address inside IPv6: mapped, compatible, NAT64 and 6to4.
      for (int form = 0; form < 4; ++form) {
        expr::IpAddress outer;
        outer.v6 = true;
        if (form == 0) outer.bytes[10] = outer.bytes[11] = 0xff;
        if (form == 2) outer.bytes = {0, 0x64, 0xff, 0x9b};
        if (form == 3) outer.bytes = {0x20, 0x02};
        for (std::size_t i = 0; i < 4; ++i) outer.bytes[(form == 3 ? 2 : 12) + i] = b[i];
        if (is_special(*address)) CAIRN_ASSERT(is_special(outer));
      }
    }
    CAIRN_ASSERT(EgressPolicy().allows(*address) == !is_special(*address));
    CAIRN_ASSERT(EgressPolicy::everywhere().allows(*address));
  }
  const std::vector<std::string> entries = egress_entries(input);
  for (const std::string& entry : entries) CAIRN_ASSERT(!entry.empty() && entry.find(',') == std::string::npos);
  const auto policy = EgressPolicy::make(entries);
  if (!policy) {
    CAIRN_ASSERT(policy.error().code == ErrorCode::invalid);
    return;
  }
  if (address && !is_special(*address)) CAIRN_ASSERT(policy->allows(*address));
  if (input.find("http://") == std::string_view::npos) CAIRN_ASSERT(!policy->allows_plain("host", 80));
}
