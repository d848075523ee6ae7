// What this build is. The release number stands here and nowhere else.
#pragma once

namespace cairn {

inline constexpr const char* version_text = "0.1.0";
inline constexpr int definition_language_version = 1;

}  // namespace cairn
