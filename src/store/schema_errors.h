// The errors for stores whose schema this build cannot use, the same on every back end. Both are found before anything
// is changed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace cairn {

inline Error newer_schema_error(std::int64_t found, int newest) {
  return {ErrorCode::unsupported, "the store has schema " + std::to_string(found) +
                                      ", this version of cairn knows up to " + std::to_string(newest) +
                                      "; use the newer version that wrote it"};
}

// Nothing converts a store from before the first release.
inline Error pre_release_error(std::int64_t found) {
  return {ErrorCode::unsupported,
          "this store was made by a pre-release version of cairn (schema " + std::to_string(found) +
              ") and cannot be converted; export what you need with that version, or start with an empty store"};
}

}  // namespace cairn
