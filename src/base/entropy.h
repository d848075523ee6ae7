// The source of random bits. It is the kernel, unless a test that must be repeatable sets another one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace cairn {

using EntropySource = std::function<void(std::span<std::uint8_t>)>;

void fill_random(std::span<std::uint8_t> bytes);

// Call it only before other threads run. An empty source restores the kernel.
void set_entropy_source(EntropySource source);

}  // namespace cairn
