// As common_headers.h, for what drives instances.
#include "store_headers.h"
#include "coordinator/coordinator.h"
