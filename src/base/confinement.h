// Takes rights away from this process that it does not need, so that a bug in it reaches as little as possible. Linux
// only; a kernel without Landlock leaves files as they are.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace cairn {

// Files and folders, with everything below a folder. What does not exist is left out.
struct ReachableFiles {
  std::vector<std::string> readable;
  std::vector<std::string> writable;  // and readable
};

// From now on this thread, and every thread that it starts, opens no other files, and executes no program. Call it
// before there are other threads. Gives the version of Landlock, 0 when the kernel has none or does not let us use it.
Result<int> confine_files(const ReachableFiles& files);

// No core dump and no debugger of the same user shows the secrets in this process's memory.
void forbid_memory_dumps();

}  // namespace cairn
