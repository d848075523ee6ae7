// How a process ends when going on would do harm: at once, without unwinding, without another word to anybody.
#pragma once

#include <functional>

namespace cairn {

[[noreturn]] void end_process(int code);

// For a host that has many nodes in one process: called instead, and must not return. An empty one is the real end
// again. Only before other threads run.
void set_process_end(std::function<void(int code)> end);

}  // namespace cairn
