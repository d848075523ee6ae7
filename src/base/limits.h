// The limits of an engine. Each is configurable, and exceeding one is an error that names it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn {

struct Limits {
  std::size_t body_bytes_max = 4u << 20;
  std::size_t state_bytes_max = 1u << 20;
  int json_depth_max = 128;
  std::int64_t steps_per_slice_max = 100'000;
  std::size_t strands_max = 1'000;
  std::size_t buffered_signals_max = 1'000;
  std::size_t name_length_max = 200;
  std::size_t definition_bytes_max = 4u << 20;
  std::size_t definition_nodes_max = 100'000;  // after aliases are expanded
  std::size_t comment_bytes_max = 16u << 10;
  std::size_t reference_bytes_max = 64u << 10;  // key and parts, as JSON
  // Signals sent by name and key that no instance waits for yet.
  std::size_t signals_per_key_max = 1'000;
  std::size_t signals_total_max = 200'000;
  std::uint64_t expression_steps_max = 1'000'000;
  std::uint64_t expression_bytes_max = 16u << 20;
};

}  // namespace cairn
