// The start of another instance, shared by `subworkflow` and `continue_with`.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "interpreter/turn.h"

namespace cairn {

// Prepares a start without id and token. It checks the name, pins the version, evaluates the input, validates it
// against the other definition's schema, and evaluates the reference.
Result<InstanceStart, Failure> prepare_start(Turn& turn, const std::string& name,
                                             const std::optional<std::string>& version,
                                             const std::optional<Template>& input,
                                             const std::optional<ReferenceTemplate>& reference);

}  // namespace cairn
