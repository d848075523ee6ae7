// Settings of the memory allocator.
#pragma once

namespace cairn {

// Keeps up to about 32 MiB of freed memory in the process for the next batch. The kernel clears every page that it
// hands out, and that is a large part of the cost of a large batch. Call it once at program start.
void keep_free_memory();

// Returns freed memory to the system. It takes milliseconds, so call it when the process is idle.
void return_free_memory();

}  // namespace cairn
