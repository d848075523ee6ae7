// From source text to a Program: read (YAML or JSON, with places), normalize (one spelling),
// validate (everything that can be known without running), compile.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "definition/program.h"

namespace cairn {

// One finding in a definition. `pointer` is the JSON pointer into the source document.
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
  Json canonical;                          // null when there are errors
  std::string digest;                      // SHA-256 of write_json(canonical), hexadecimal
  std::shared_ptr<const Program> program;  // null when there are errors; shared with instances

  bool valid() const { return program != nullptr; }
};

// Reads YAML or JSON text; `file` only names the places. Never fails: what is wrong stands in the
// diagnostics. A canonical form is also valid JSON source and gives itself.
// `transports` are known to `call` beside http, graphql and worker.
Definition load_definition(std::string_view text, const std::string& file, const Limits& limits = {},
                           std::span<const std::string> transports = {});

// The same from a JSON value in any of the source's spellings, as the C++ builder makes it. JSON values sort their
// members, so `set` and `branches` should be lists where their order matters. Findings have pointers but no places.
Definition definition_of(const Json& source, const Limits& limits = {}, std::span<const std::string> transports = {});

}  // namespace cairn
