#pragma once

namespace cairn::sqlite {

// The settings of the writing connection. Every commit is on the disk before it is answered. Checks of the table
// constraints are off: they exist for other programs, and SQLite builds a temporary table per row to check one.
inline constexpr const char* writer_settings =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF; PRAGMA foreign_keys = OFF;"
    "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;"
    "PRAGMA temp_store = MEMORY; PRAGMA ignore_check_constraints = ON;";

}  // namespace cairn::sqlite
