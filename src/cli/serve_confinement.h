// The files that a server needs once its settings are read; everything else is out of its reach (base/confinement.h).
#pragma once

#include "base/confinement.h"
#include "config/configuration.h"

namespace cairn::cli {

ReachableFiles files_of_server(const config::Configuration& configuration);

// Confines this process unless `confine` is no, and logs what came of it. Before it has threads.
Result<void> confine_server(const config::Configuration& configuration);

}  // namespace cairn::cli
