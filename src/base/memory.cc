#include "base/memory.h"

#include <malloc.h>

namespace cairn {

void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace cairn
