// A compiled definition with everything that was found in its source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"

namespace cairn {

struct Program;

// One error or warning about a definition. `pointer` is the JSON pointer into the source document.
struct Diagnostic {
  enum class Severity { error, warning };
  Severity severity = Severity::error;
  int line = 1;
  int column = 1;
  std::string message;
  std::string pointer;
};

// FILE:LINE:COL: error: MESSAGE [POINTER]
std::string format_diagnostic(const std::string& file, const Diagnostic& diagnostic);

struct Definition {
  std::vector<Diagnostic> diagnostics;     // errors and warnings in source order, at most 100 errors
  Json canonical;                          // null if there are errors
  std::string digest;                      // SHA-256 of write_json(canonical), hexadecimal
  std::shared_ptr<const Program> program;  // null if there are errors; shared with instances

  bool valid() const { return program != nullptr; }
};

}  // namespace cairn
