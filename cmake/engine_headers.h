// As common_headers.h, for what drives instances.
#include "engine/coordinator.h"
#include "store_headers.h"
