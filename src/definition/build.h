// From a draft without errors to the Program that instances share.
#pragma once

#include <memory>

#include "definition/draft.h"

namespace cairn {

// Takes the draft's program over; `canonical` is what it was made from or what it gave.
std::shared_ptr<const Program> finish_program(Draft& draft, const Json& canonical);

}  // namespace cairn
