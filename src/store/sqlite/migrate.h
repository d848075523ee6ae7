// Brings a store's tables to this build's schema: numbered steps, forward only, one transaction each.
#pragma once

#include "store/sqlite/connection.h"

namespace cairn::sqlite {

int newest_schema();

// ErrorCode::unsupported when a newer cairn wrote the file, ErrorCode::invalid when something else did.
Result<int> read_schema(Connection& connection);
Result<void> migrate(Connection& connection);

}  // namespace cairn::sqlite
