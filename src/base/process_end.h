// Ends the process at once, without unwinding and without further output, when continuing would do harm.
#pragma once

#include <functional>

namespace cairn {

[[noreturn]] void end_process(int code);

// Sets a function that end_process calls instead of exiting; it must not return. A host with many nodes in one process
// uses it. An empty function restores the real exit. Call it only before other threads run.
void set_process_end(std::function<void(int code)> end);

}  // namespace cairn
