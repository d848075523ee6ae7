// Any text as a Redis URL: accepted exactly if a plain reading of the form accepts it.
#include <algorithm>

#include "input.h"
#include "redis/connection.h"

namespace {

bool is_number(std::string_view text, long most) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  if (text.size() > 18) return false;
  return std::stol(std::string(text)) <= most;
}

}  // namespace

void fuzz(std::string_view url) {
  const bool accepted = cairn::redis::check_url(url).has_value();
  if (url.starts_with("unix:")) {
    CAIRN_ASSERT(accepted == (url.size() > 5));
    return;
  }
  if (!url.starts_with("redis://")) {
    CAIRN_ASSERT(!accepted);
    return;
  }
  if (!accepted) return;
  std::string_view rest = url.substr(8);
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    CAIRN_ASSERT(rest.substr(0, at).find(':') != std::string_view::npos);
    rest.remove_prefix(at + 1);
  }
  const std::size_t slash = rest.find('/');
  if (slash != std::string_view::npos) CAIRN_ASSERT(is_number(rest.substr(slash + 1), 1'000'000));
  rest = rest.substr(0, slash);
  if (const std::size_t colon = rest.rfind(':'); colon != std::string_view::npos) {
    CAIRN_ASSERT(is_number(rest.substr(colon + 1), 65'535));
    rest = rest.substr(0, colon);
  }
  CAIRN_ASSERT(!rest.empty());
}
