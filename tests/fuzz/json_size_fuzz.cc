// The first byte is a limit, the rest JSON: the size computed without writing is the size of the written text.
#include "base/json_size.h"

#include "input.h"

void fuzz(std::string_view input) {
  const std::size_t bytes_max = cairn::fuzzing::take_byte(input);
  const auto json = cairn::parse_json(input);
  if (!json) return;
  const std::size_t size = cairn::write_json(*json).size();
  const auto beyond = cairn::written_beyond(*json, bytes_max);
  CAIRN_ASSERT(beyond.has_value() == (size > bytes_max));
  CAIRN_ASSERT(!beyond || *beyond == size);
}
