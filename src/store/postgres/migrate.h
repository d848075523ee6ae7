// Makes the tables of a new store (sql/schema.sql), and migrates those of an older release to this build's schema:
// numbered steps, forward only. Everything runs in one transaction under one lock, so any number of nodes may run it at
// the same time.
#pragma once

#include "store/postgres/wire/connection.h"

namespace cairn::postgres {

// The error for a store whose schema is newer.
Error too_new();
// 0: no tables yet. ErrorCode::unsupported if a newer or a pre-release version wrote them (store/schema_errors.h).
Result<int> read_schema(Connection& connection);
Result<void> migrate(Connection& connection);

}  // namespace cairn::postgres
