// What `subworkflow` and `continue_with` share: the start of another instance.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "interpreter/turn.h"

namespace cairn {

// The start without id and token: name known, version pinned, input evaluated and checked against
// the other definition's schema, reference evaluated.
Result<InstanceStart, Failure> prepare_start(Turn& turn, const std::string& name,
                                             const std::optional<std::string>& version,
                                             const std::optional<Template>& input,
                                             const std::optional<ReferenceTemplate>& reference);

}  // namespace cairn
