// Removes rights that this process does not need, so that a bug in it can do less harm. Linux only. A kernel without
// Landlock leaves file access unrestricted.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

// Files and folders; a folder includes everything below it. Paths that do not exist are skipped.
struct ReachableFiles {
  std::vector<std::string> readable;
  std::vector<std::string> writable;  // readable too
};

// Forbids this thread, and every thread that it starts later, to open other files and to execute programs. Call it
// before the process starts other threads. Answers the version of Landlock, or 0 if the kernel has none or refuses its
// use.
Result<int> confine_files(const ReachableFiles& files);

// Keeps the secrets in this process's memory out of core dumps and away from debuggers of the same user.
void forbid_memory_dumps();

}  // namespace cairn::cli
