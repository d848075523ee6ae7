#include "base/entropy.h"

#include <openssl/rand.h>

#include "base/result.h"

namespace cairn {

namespace {
EntropySource& replaced_source() {
  static EntropySource source;
  return source;
}
}  // namespace

void set_entropy_source(EntropySource source) { replaced_source() = std::move(source); }

void fill_random(std::span<std::uint8_t> bytes) {
  if (const EntropySource& source = replaced_source()) return source(bytes);
  // Without random bits there are no safe ids, so nothing sensible could go on.
  CAIRN_ASSERT(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
}

}  // namespace cairn
