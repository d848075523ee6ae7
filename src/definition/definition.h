// src/definition turns the source of a workflow definition into a Program, and a Program's canonical form back into
// source. It uses src/expr, src/schema and libyaml; it does no I/O and knows nothing of instances. One walk does it
// all: read (YAML or JSON, with places), normalize to one spelling, validate everything that can be known without
// running, compile. Each step kind has a file of its own (step_*.cc) behind step_kinds.h. Read `load_definition` in
// this file first, then read_document in document.cc and program.h for the result.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "definition/built_definition.h"
#include "definition/program.h"

namespace cairn {

// Reads YAML or JSON text; `file` is only used in messages. It never fails: the diagnostics hold every error. A
// canonical form is also valid JSON source and compiles to itself. `call` accepts `transports` in addition to http,
// graphql and worker.
Definition load_definition(std::string_view text, const std::string& file, const Limits& limits = {},
                           std::span<const std::string> transports = {});

// The same from a JSON value in any source spelling, as the C++ builder makes it. JSON objects sort their members, so
// use lists for `set` and `branches` where the order matters. Diagnostics have pointers but no places.
Definition definition_of(const Json& source, const Limits& limits = {}, std::span<const std::string> transports = {});

}  // namespace cairn
