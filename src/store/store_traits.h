// What a caller must know of a back end. Callers ask for a trait, never for the kind of database.
#pragma once

#include <cstddef>

namespace cairn {

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
  // `end_runs` works. It may depend on the events that are kept: ask after `keep_events`.
  bool ends_runs_directly = false;
};

}  // namespace cairn
