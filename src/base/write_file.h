// Writes a file so that a crash leaves either the old file or the new one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

// The text is on the disk, under its name, when this returns. Only the owner may read the file. ErrorCode::unavailable
// with the system's reason.
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace cairn
