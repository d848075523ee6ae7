#include "expr/function.h"
namespace cairn::expr { Library library_encoders() { return {"encoders", {}}; } }
