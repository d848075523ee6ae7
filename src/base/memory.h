#pragma once

namespace cairn {

// What is freed stays with the process up to some 32 MiB, for the next batch: the system clears every page that it
// gives, which costs a large batch more than many of its other parts. For a program to say at its start.
void keep_free_memory();

// Gives the system what the process has freed and still keeps. Takes milliseconds: for moments of rest.
void return_free_memory();

}  // namespace cairn
