#include "expr/function.h"
namespace cairn::expr { Library library_strings() { return {"strings", {}}; } }
