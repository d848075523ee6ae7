// Compiled patterns. They use RE2, so matching takes time linear in the text and bounded memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace cairn::expr {

struct Regex {
  std::string pattern;
  std::unique_ptr<const re2::RE2> program;
  Regex();
  ~Regex();
};

inline constexpr std::size_t pattern_bytes_max = 4096;

// The error message describes what is wrong with the pattern.
Result<std::shared_ptr<const Regex>, std::string> compile_regex(std::string_view pattern);

}  // namespace cairn::expr
