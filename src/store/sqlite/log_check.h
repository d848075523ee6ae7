// Reads a write-ahead log as recovery would, and tells damage from an end that was never synced.
//
// SQLite's recovery stops at the first frame that does not match its checksum and forgets the rest. That is right for
// what a power failure tore, and wrong for a bit that the disk lost in the middle of acknowledged commits.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace cairn::sqlite {

struct LogFindings {
  std::map<std::uint32_t, sqlite3_int64> pages;  // where the newest frame of each page begins
  int repaired = 0;                              // frames in which one bit was wrong; put right when asked to
  std::string damage;                            // what cannot be put right; empty: nothing
  int code = SQLITE_OK;                          // of a read or write that failed
};

// `file` is open. With `repair` the frames with one wrong bit are written anew.
LogFindings check_log(sqlite3_file* file, bool repair);

}  // namespace cairn::sqlite
