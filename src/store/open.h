// Opens a store by its URL: `memory:`, `sqlite:PATH`, `postgres://…[?schema=NAME]` (see store/postgres/wire/url.h).
// With `?run_events=off` the store writes no audit trail of runs (workflow_event).
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "store/store.h"

namespace cairn {

enum class StoreMode {
  own,        // reads and writes; creates and migrates the schema
  read_only,  // beside a running owner
};

// `clock` must outlive the store. ErrorCode::invalid for any other URL.
Result<std::unique_ptr<Store>> open_store(const std::string& url, Clock& clock, StoreMode mode = StoreMode::own);

}  // namespace cairn
