// Any bytes printed to a terminal, in two pieces: the output is UTF-8 without control characters, the same for every
// place of the cut, and JSON keeps its value.
#include "cli/safe_output.h"

#include <sstream>

#include "base/json.h"
#include "base/utf8.h"
#include "input.h"

namespace {

std::string printed(std::string_view first, std::string_view second) {
  std::ostringstream out;
  {
    const cairn::cli::SafeOutput filter(out);
    out << first << second;
  }
  return out.str();
}

}  // namespace

void fuzz(std::string_view input) {
  using namespace cairn;
  const std::size_t cut = std::min<std::size_t>(fuzzing::take_byte(input), input.size());
  const std::string safe = printed(input, "");
  CAIRN_ASSERT(printed(input.substr(0, cut), input.substr(cut)) == safe);
  CAIRN_ASSERT(is_utf8(safe));
  for (std::size_t at = 0; at < safe.size();) {
    const CodePoint c = code_point_at(safe, at);
    CAIRN_ASSERT(c.value >= 0x20 || c.value == '\n' || c.value == '\t');
    CAIRN_ASSERT(c.value < 0x7f || c.value > 0x9f);
    CAIRN_ASSERT(c.value < 0x202a || c.value > 0x202e);
    CAIRN_ASSERT(c.value < 0x2066 || c.value > 0x2069);
    at += c.size;
  }
  CAIRN_ASSERT(printed(safe, "") == safe);
  if (const auto json = parse_json(input)) {
    const auto again = parse_json(printed(write_json(*json), ""));
    CAIRN_ASSERT(again.has_value() && *again == *json);
  }
}
