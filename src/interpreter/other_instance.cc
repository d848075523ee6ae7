#include "interpreter/other_instance.h"

#include "base/suggest.h"

namespace cairn {
namespace {

Failure unknown(Turn& turn, const DefinitionIndex& known, const std::string& name,
                const std::optional<std::string>& version) {
  std::string message = "no definition " + name + (version ? " version " + *version : "") + " is known";
  const auto versions = known.versions(name);
  if (!versions.empty()) {
    message += "; known versions:";
    for (const std::string& one : versions) message += " " + one;
  } else if (const auto near = nearest_name(name, known.names())) {
    message += "; did you mean " + *near + "?";
  }
  return turn.failure(FailureClass::definition, "unknown_workflow", message + " (" + turn.step.path + ")");
}

}  // namespace

Result<InstanceStart, Failure> prepare_start(Turn& turn, const std::string& name,
                                             const std::optional<std::string>& version,
                                             const std::optional<Template>& input,
                                             const std::optional<ReferenceTemplate>& reference) {
  InstanceStart start;
  start.name = name;
  start.version = version;
  start.step = turn.step.id;
  std::shared_ptr<const Program> program;
  if (const DefinitionIndex* known = turn.machine.setting().known.get()) {
    program = known->find(name, version);
    if (!program) return unknown(turn, *known, name, version);
    start.version = program->version;
  }
  CAIRN_TRY(start.input, turn.value(input, "input", Json::object()));
  if (program && program->input && !program->input->accepts(start.input)) {
    const auto violations = program->input->check(start.input);
    Json details = Json::array();
    for (const schema::Violation& violation : violations) {
      details.push_back(Json::object({{"detail", violation.message}, {"pointer", violation.pointer}}));
    }
    return turn.failure(FailureClass::definition, "invalid_input",
                        "the input does not fit " + name + " " + program->version + ": " + schema::listed(violations) +
                            " (" + turn.step.path + ")",
                        std::move(details));
  }
  if (reference) {
    CAIRN_TRY(start.reference, turn.reference(*reference, Reference{}));
  }
  return start;
}

}  // namespace cairn
