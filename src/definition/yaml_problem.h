// Explains libyaml's errors in plain words (rule X5).
#pragma once

#include <yaml.h>

#include <string>

#include "definition/source_text.h"

namespace cairn {

struct YamlProblem {
  std::size_t at = 0;
  std::string message;
};

// Call it after `parser` has failed on `text`.
YamlProblem explain_yaml_problem(const yaml_parser_t& parser, const SourceText& text);

}  // namespace cairn
