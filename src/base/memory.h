#pragma once

namespace cairn {

// Gives the system what the process has freed and still keeps. Takes milliseconds: for moments of rest.
void return_free_memory();

}  // namespace cairn
