// What cancel, suspend, resume and retry have in common: one request to one instance of a local store.
#pragma once

#include <functional>
#include <ostream>
#include <span>
#include <string>

#include "cli/arguments.h"
#include "instance/event.h"

namespace cairn::cli {

// Reads ID and flags, sends what `request` makes of the flags, and prints how the instance stands then.
int send_request(const CommandSpec& spec, std::span<const std::string> args,
                 const std::function<decltype(Event::what)(const Arguments&)>& request, std::ostream& out,
                 std::ostream& err);

}  // namespace cairn::cli
