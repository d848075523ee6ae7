// As common_headers.h, for what stores rows.
#include "common_headers.h"
#include "store/projection.h"
#include "store/store.h"
