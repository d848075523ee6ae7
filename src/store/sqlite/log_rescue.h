// Makes sure that what recovery is about to read is on the disk.
//
// When a sync fails, the kernel forgets that the pages were dirty: the log still reads as if it had been
// written, and no later sync writes it. A process that recovers from such a log would acknowledge work on top
// of something that the next power failure takes away.
#pragma once

#include <string>

#include "base/result.h"

namespace cairn::sqlite {

// Writes the log of the store at `path` over with its own bytes and syncs it. Nothing to do without a log. Single bits
// that the disk changed are put right; ErrorCode::corrupt when acknowledged commits cannot be read (log_check.h).
// Before the store is opened, by its owner.
Result<void> rescue_log(const std::string& path);

// What of the log cannot be read, in words; empty when nothing is wrong, or when its owner is at work. Changes nothing.
std::string log_damage(const std::string& path);

}  // namespace cairn::sqlite
