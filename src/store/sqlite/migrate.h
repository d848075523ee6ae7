// Migrates a store's tables to this build's schema: numbered steps, forward only, one transaction each.
#pragma once

#include "store/sqlite/connection.h"

namespace cairn::sqlite {

int newest_schema();

// ErrorCode::unsupported if a newer cairn wrote the file, ErrorCode::invalid if another program did.
Result<int> read_schema(Connection& connection);
Result<void> migrate(Connection& connection);
// Whether another program has written to the store since `forget_foreign_changes`.
bool has_foreign_changes(Connection& connection);
void forget_foreign_changes(Connection& connection);
// The error if the file's schema is newer than this build. Nothing may be written then.
std::optional<Error> newer_schema(Connection& connection);

// From this schema on every page carries a checksum.
inline constexpr int checksum_schema = 9;

}  // namespace cairn::sqlite
