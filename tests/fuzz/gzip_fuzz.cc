// Any bytes: unpacking ends within its limit, and undoes packing.
#include "http/gzip.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::http;
  const std::size_t bytes_max = 1000u * cairn::fuzzing::take_byte(input);
  if (const auto text = gunzip(input, bytes_max)) CAIRN_ASSERT(text->size() <= bytes_max);
  const std::string packed = gzip(input);
  CAIRN_ASSERT(gunzip(packed, input.size()) == input);
  if (!input.empty()) CAIRN_ASSERT(!gunzip(packed, input.size() - 1));
  CAIRN_ASSERT(!gunzip(std::string_view(packed).substr(0, packed.size() - 1), input.size()));
}
