#include "expr/function.h"
namespace cairn::expr { Library library_lists() { return {"lists", {}}; } }
