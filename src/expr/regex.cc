#include "expr/regex.h"

#include <re2/re2.h>

namespace cairn::expr {

Regex::Regex() = default;
Regex::~Regex() = default;

Result<std::shared_ptr<const Regex>, std::string> compile_regex(std::string_view pattern) {
  if (pattern.size() > pattern_bytes_max) {
    return std::string("the pattern has more than ") + std::to_string(pattern_bytes_max) + " bytes";
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto result = std::make_shared<Regex>();
  result->pattern = std::string(pattern);
  auto program = std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!program->ok()) return "the pattern is not a regular expression: " + program->error();
  result->program = std::move(program);
  return std::shared_ptr<const Regex>(std::move(result));
}

}  // namespace cairn::expr
