#include "cli/dev_definitions.h"

#include <sstream>

#include "cli/definition_files.h"
#include "cli/findings.h"
#include "cli/input_file.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "schedule/schedules.h"

namespace cairn::cli {

void DevDefinitions::add(const Program& program) {
  deployed_ += (deployed_.empty() ? "" : ", ") + program.name + " " + program.version;
}

std::string DevDefinitions::deployed() {
  const std::lock_guard lock(mutex_);
  return deployed_;
}

bool DevDefinitions::deploy(std::string_view text, const std::string& file) {
  const Definition definition = load_definition(text, file);
  print_findings(file, text, definition.diagnostics, err_);
  if (!definition.valid()) return false;
  EngineCore& core = engine_.core();
  auto deployed = cairn::deploy(core, definition.program);
  if (deployed) {
    add(*definition.program);
    return true;
  }
  constexpr int edits_max = 10'000;
  for (int edit = 2; deployed.error().code == ErrorCode::conflict && edit < edits_max; ++edit) {
    Json renamed = definition.canonical;
    renamed.set("version", definition.program->version + "+" + std::to_string(edit));
    auto program = compile_program(renamed);
    if (!program) break;
    deployed = cairn::deploy(core, *program);
    if (!deployed) continue;
    add(**program);
    out_ << file << ": changed, deployed as " << (*program)->name << " " << (*program)->version << std::endl;
    return true;
  }
  err_ << file << ": " << deployed.error().message << "\n";
  return false;
}

void DevDefinitions::changed(const std::string& file) {
  if (!is_definition_file(file)) return;
  const std::lock_guard lock(mutex_);
  std::istringstream nothing;
  const auto text = read_input(file, nothing, Limits().definition_bytes_max);
  if (!text) return;  // deleted again
  const Definition definition = load_definition(*text, file);
  if (definition.valid()) {
    const auto known = engine_.core().registry().find(definition.program->name, std::nullopt);
    Json newest = known ? (*known)->canonical : Json();
    if (known) newest.set("version", definition.program->version);
    // Saved without a change of meaning.
    if (known && newest == definition.canonical) return;
  }
  if (!deploy(*text, file)) err_ << file << ": not deployed; what was there stays" << std::endl;
}

}  // namespace cairn::cli
