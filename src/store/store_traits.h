// What a caller must know of a back end. Callers ask for a trait, never for the kind of database.
#pragma once

#include <cstddef>

#include "base/limits.h"

namespace cairn {

// Smaller values cost more apart than they save: a row of their own, its index entry and a use.
inline constexpr std::size_t piece_bytes_default = Limits().piece_bytes_min;

struct StoreTraits {
  // Other nodes may write the same store. So a row may change at any time without a wake-up here, commits may become
  // visible in another order than their numbers, and a read may take as long as a network needs.
  bool shared = false;
  // How many threads of this node can usefully call `commit` at the same time.
  std::size_t writers = 1;
  // `commit_unsynced` and `sync` are separate steps. If false, `commit_unsynced` is `commit`.
  bool commits_unsynced = false;
  // `encode_ahead` (unit.h) saves this store work.
  bool keeps_encoded = false;
  // Values of this size are kept apart from their snapshots (instance/pieces.h); 0: none is. A node may change it at any
  // time (`keep_apart`): what is stored says itself what is apart.
  std::size_t piece_bytes_min = 0;
  // `end_runs` works. It may depend on the events that are kept: ask after `keep_events`.
  bool ends_runs_directly = false;
};

}  // namespace cairn
