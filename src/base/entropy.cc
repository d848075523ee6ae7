#include "base/entropy.h"

#include <openssl/rand.h>
#include <pthread.h>

#include <algorithm>
#include <array>

#include "base/result.h"

namespace cairn {

namespace {
EntropySource& replaced_source() {
  static EntropySource source;
  return source;
}

// Without random bits no id is safe, so the process cannot continue.
void fill_from_generator(std::span<std::uint8_t> bytes) {
  CAIRN_ASSERT(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
}

// A forked child discards the bits that its parent has fetched. Otherwise both would create the same ids.
std::size_t generation = 0;
[[maybe_unused]] const int noticed = ::pthread_atfork(nullptr, nullptr, [] { ++generation; });

}  // namespace

void set_entropy_source(EntropySource source) { replaced_source() = std::move(source); }

void fill_random(std::span<std::uint8_t> bytes) {
  if (const EntropySource& source = replaced_source()) return source(bytes);
  // Bits are fetched in batches: one system call takes as long for one id as for fifty.
  static thread_local std::array<std::uint8_t, 1024> portion;
  static thread_local std::size_t left = 0, fetched_in = 0;
  if (bytes.size() > portion.size()) return fill_from_generator(bytes);
  if (bytes.size() > left || fetched_in != generation) {
    fill_from_generator(portion);
    left = portion.size();
    fetched_in = generation;
  }
  const auto taken = portion.begin() + static_cast<std::ptrdiff_t>(portion.size() - left);
  std::copy_n(taken, bytes.size(), bytes.begin());
  std::fill_n(taken, bytes.size(), 0);
  left -= bytes.size();
}

}  // namespace cairn
