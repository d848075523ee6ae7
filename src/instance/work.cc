#include "cairn/work.h"

#include "instance/trace_id.h"

namespace cairn {

std::string Work::traceparent() const { return traceparent_of(trace, instance, run, attempt); }

}  // namespace cairn
