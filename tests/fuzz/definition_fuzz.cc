// Arbitrary bytes as a definition: errors have positions, and an accepted definition is a fixed point.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "definition/definition.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const cairn::Definition definition =
      cairn::load_definition(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.yaml");
  std::size_t errors = 0;
  for (const cairn::Diagnostic& diagnostic : definition.diagnostics) {
    if (diagnostic.line < 1 || diagnostic.column < 1 || diagnostic.message.empty()) std::abort();
    if (diagnostic.severity == cairn::Diagnostic::Severity::error) ++errors;
  }
  if (definition.valid() != (errors == 0)) std::abort();
  if (!definition.valid()) return 0;
  const std::string bytes = cairn::write_json(definition.canonical);
  if (cairn::load_definition(bytes, "fuzz.json").digest != definition.digest) std::abort();
  if (!cairn::compile_program(definition.canonical).has_value()) std::abort();
  return 0;
}
