// Reads a write-ahead log as recovery would, and distinguishes damage from an end that was never synced.
//
// SQLite's recovery stops at the first frame with a wrong checksum and drops the rest. That is right after a power
// failure, but wrong for a bit that the disk lost in the middle of acknowledged commits.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace cairn::sqlite {

struct LogFindings {
  std::map<std::uint32_t, sqlite3_int64> pages;  // the offset of the newest frame of each page
  int repaired = 0;                              // frames with one wrong bit; repaired if requested
  std::string damage;                            // what cannot be repaired; empty: nothing
  int code = SQLITE_OK;                          // of a failed read or write
};

// `file` is open. With `repair`, frames with one wrong bit are rewritten.
LogFindings check_log(sqlite3_file* file, bool repair);

}  // namespace cairn::sqlite
