// Replaying a dead letter: what could not be handled is handed in again, once.
#pragma once

#include <cstdint>

#include "engine/core.h"

namespace cairn {

// False: there is no such letter. conflict when what it was about has gone on since.
Result<bool> replay_dead_letter(EngineCore& core, std::int64_t id, const Actor& actor);

}  // namespace cairn
