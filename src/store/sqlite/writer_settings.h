#pragma once

namespace cairn::sqlite {

// How the one writing connection is set up: every commit is on the disk before it is answered. The constraints hold
// what other programs write against the rules; to check one, SQLite builds a table of its own for every row.
inline constexpr const char* writer_settings =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = OFF; PRAGMA foreign_keys = OFF;"
    "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;"
    "PRAGMA temp_store = MEMORY; PRAGMA ignore_check_constraints = ON;";

}  // namespace cairn::sqlite
