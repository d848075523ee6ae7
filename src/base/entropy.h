// Where random bits come from: the kernel, unless a test that must repeat itself gives another source.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace cairn {

using EntropySource = std::function<void(std::span<std::uint8_t>)>;

void fill_random(std::span<std::uint8_t> bytes);

// Only before other threads run. An empty source is the kernel again.
void set_entropy_source(EntropySource source);

}  // namespace cairn
