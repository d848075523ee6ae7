// As common_headers.h, for what drives instances.
#include "coordinator/coordinator.h"
#include "store_headers.h"
