// Makes the tables of a new store (sql/schema.sql), and migrates those of an older release to this build's schema:
// numbered steps, forward only, one transaction each.
#pragma once

#include "store/sqlite/connection.h"

namespace cairn::sqlite {

// 0: no tables yet. ErrorCode::unsupported if a newer or a pre-release version wrote the file (store/schema_errors.h),
// ErrorCode::invalid if another program did.
Result<int> read_schema(Connection& connection);
Result<void> migrate(Connection& connection);
// Tables that other programs have added get the triggers that count changes too.
Result<void> count_changes_of_new_tables(Connection& connection);
// Whether another program has written to the store since `forget_foreign_changes`.
bool has_foreign_changes(Connection& connection);
void forget_foreign_changes(Connection& connection);
// The error if the file's schema is newer than this build. Nothing may be written then.
std::optional<Error> newer_schema(Connection& connection);

}  // namespace cairn::sqlite
