// A store by its URL: `memory:`, `sqlite:PATH`, `postgres://…[?schema=NAME]` (see store/postgres/wire/url.h).
// `?run_events=off` behind it: no audit trail of runs (workflow_event) is written.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "store/store.h"

namespace cairn {

enum class StoreMode {
  own,        // reads and writes; creates and migrates what is not there yet
  read_only,  // beside a running owner
};

// `clock` outlives the store. ErrorCode::invalid for a URL that is none of these.
Result<std::unique_ptr<Store>> open_store(const std::string& url, Clock& clock, StoreMode mode = StoreMode::own);

}  // namespace cairn
