// The version of this build. The release number is defined only here.
#pragma once

namespace cairn {

inline constexpr const char* version_text = "0.1.0";
inline constexpr int definition_language_version = 1;

}  // namespace cairn
