// The limits of an engine. Each is configurable, and exceeding one is an error that names it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cairn {

struct Limits {
  std::size_t body_bytes_max = 4u << 20;
  std::size_t state_bytes_max = 1u << 20;
  // Not a refusal: values of this size are stored apart from their snapshots (instance/pieces.h). 0: none is.
  std::size_t piece_bytes_min = 16u << 10;
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
  // What may wait before further requests are refused.
  std::size_t commits_waiting_max = 65'536;
  std::size_t runs_waiting_max = 65'536;      // submitted runs
  std::size_t reads_waiting_max = 65'536;     // requests that need a thread of the engine to read the store
  std::size_t writes_waiting_max = 10'000;    // broadcasts, batches of runs, changes of tasks, deletions
  std::size_t instance_waiting_max = 65'536;  // requests that wait for earlier ones to the same instances
  std::size_t lease_waiters_max = 10'000;
  std::size_t bulk_jobs_max = 1'000;
  std::size_t event_batch_max = 1'000;  // events of one request
  std::size_t search_length_max = 200;  // characters
  std::uint64_t expression_steps_max = 1'000'000;
  std::uint64_t expression_bytes_max = 16u << 20;
};

}  // namespace cairn
