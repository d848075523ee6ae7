// Turns a draft without errors into the Program that instances share.
#pragma once

#include <memory>

#include "definition/draft.h"

namespace cairn {

// Takes the program out of the draft. `canonical` is the form that it was made from or that reading it produced.
std::shared_ptr<const Program> finish_program(Draft& draft, const Json& canonical);

}  // namespace cairn
