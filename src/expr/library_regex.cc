#include "expr/function.h"
namespace cairn::expr { Library library_regex() { return {"regex", {}}; } }
