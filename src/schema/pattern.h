// Translates the regular expressions of ECMA-262, which JSON Schema uses, to RE2, which matches in linear time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace cairn::schema {

struct TranslatedPattern {
  std::string re2;
  // Not empty: valid ECMA-262 that no automaton can match (look-around, back-references). `re2` is then only a
  // placeholder for the syntax check.
  std::string unsupported;
};

// `pattern` must be UTF-8. The error is a plain sentence about the pattern.
Result<TranslatedPattern, std::string> translate_pattern(std::string_view pattern);
bool is_pattern_syntax(const std::string& re2);

// Immutable and safe from several threads.
class Pattern {
 public:
  static Result<Pattern, std::string> compile(std::string_view pattern);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  // Whether it matches anywhere in `text`, which must be UTF-8.
  bool matches(std::string_view text) const;
  const std::string& source() const { return source_; }
  // The size of the automaton in instructions of about 16 bytes.
  std::size_t program_size() const;

 private:
  Pattern(std::string source, std::unique_ptr<re2::RE2> automaton);

  std::string source_;
  std::unique_ptr<re2::RE2> automaton_;
};

}  // namespace cairn::schema
