#include "base/memory.h"

#include <malloc.h>

namespace cairn {

void keep_free_memory() {
#ifdef __GLIBC__
  constexpr int bytes = 32 * 1024 * 1024;
  mallopt(M_TRIM_THRESHOLD, bytes);
  mallopt(M_MMAP_THRESHOLD, bytes);
#endif
}

void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace cairn
