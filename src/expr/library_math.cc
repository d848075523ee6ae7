#include "expr/function.h"
namespace cairn::expr { Library library_math() { return {"math", {}}; } }
