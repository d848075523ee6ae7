#include "expr/function.h"
namespace cairn::expr { Library library_network() { return {"network", {}}; } }
