// Ensures that what recovery is about to read is on the disk.
//
// When a sync fails, the kernel marks the pages as clean. The log still reads as if it had been written, but no later
// sync writes it. A process that recovers from such a log would acknowledge work on top of data that the next power
// failure destroys.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::sqlite {

// Rewrites the log of the store at `path` with its own bytes and syncs it. Without a log it does nothing. It repairs
// single bits that the disk changed. ErrorCode::corrupt if acknowledged commits cannot be read (log_check.h). The owner
// calls it before the store is opened.
Result<void> rescue_log(const std::string& path);

// Describes what of the log cannot be read; empty if it is intact, or while its owner is running. Changes nothing.
std::string log_damage(const std::string& path);

}  // namespace cairn::sqlite
