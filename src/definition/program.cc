#include "definition/program.h"

#include "base/sha256.h"
#include "definition/build.h"

namespace cairn {

StepIndex Program::find_step(const std::string& id) const {
  const auto found = step_by_id.find(id);
  return found == step_by_id.end() ? no_index : found->second;
}

Result<std::shared_ptr<const Program>> compile_program(const Json& canonical) {
  Draft draft;
  if (nests_deeper_than(canonical, draft.limits.json_depth_max)) {
    return Error{ErrorCode::invalid,
                 "the definition nests deeper than " + std::to_string(draft.limits.json_depth_max) + " levels"};
  }
  draft.stored = true;
  read_document(draft, source_of(canonical));
  for (const Diagnostic& diagnostic : draft.findings.take()) {
    if (diagnostic.severity != Diagnostic::Severity::error) continue;
    return Error{ErrorCode::invalid, diagnostic.message + " [" + diagnostic.pointer + "]"};
  }
  return finish_program(draft, canonical);
}

std::shared_ptr<const Program> finish_program(Draft& draft, const Json& canonical) {
  Program& program = draft.program;
  program.canonical = canonical;
  program.digest = sha256_hex(write_json(canonical));
  for (StepIndex i = 0; i < program.steps.size(); ++i) program.step_by_id.emplace(program.steps[i].id, i);
  program.places.build(program.steps, program.blocks);
  return std::make_shared<const Program>(std::move(program));
}

}  // namespace cairn
