// Any text as a listen address: what is accepted, written as in a URL, reads back the same.
#include "cli/listen_address.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::cli;
  const auto address = read_listen_address(std::string(input));
  if (!address) return;
  CAIRN_ASSERT(!input.empty());
  if (address->host.empty()) return;
  const auto again = read_listen_address(url_host(address->host) + ":" + std::to_string(address->port));
  CAIRN_ASSERT(again.has_value() && again->host == address->host && again->port == address->port);
}
