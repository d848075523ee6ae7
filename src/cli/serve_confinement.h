// The files that a server needs after it has read its settings; all other files become inaccessible
// (cli/confinement.h).
#pragma once

#include "cli/confinement.h"
#include "config/configuration.h"

namespace cairn::cli {

ReachableFiles files_of_server(const config::Configuration& configuration);

// Confines this process unless `confine` is no, and logs the result. Call this before any thread starts.
Result<void> confine_server(const config::Configuration& configuration);

}  // namespace cairn::cli
