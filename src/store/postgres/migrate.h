// Migrates a store's tables to this build's schema: numbered steps, forward only. All steps run in one transaction
// under one lock, so any number of nodes may run it at the same time.
#pragma once

#include "store/postgres/wire/connection.h"

namespace cairn::postgres {

int newest_schema();
// The error for a store whose schema is newer.
Error too_new();
// 0: no schema yet. ErrorCode::unsupported if a newer cairn wrote it.
Result<int> read_schema(Connection& connection);
Result<void> migrate(Connection& connection);

}  // namespace cairn::postgres
