#include "expr/function.h"
namespace cairn::expr { Library library_optionals() { return {"optionals", {}}; } }
