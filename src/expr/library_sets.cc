#include "expr/function.h"
namespace cairn::expr { Library library_sets() { return {"sets", {}}; } }
