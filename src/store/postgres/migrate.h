// Brings a store's tables to this build's schema: numbered steps, forward only, all of them in one
// transaction under one lock, so that any number of nodes may do it at once.
#pragma once

#include "store/postgres/wire/connection.h"

namespace cairn::postgres {

int newest_schema();
// What is said when the store has a newer schema than that.
Error too_new();
// 0: nothing there yet. ErrorCode::unsupported when a newer cairn wrote it.
Result<int> read_schema(Connection& connection);
Result<void> migrate(Connection& connection);

}  // namespace cairn::postgres
