// As common_headers.h, for what drives instances.
#include "engine/core.h"
#include "store_headers.h"
