// W3C trace context. An instance is one trace: the trace of the request that started it, if there is one
// (Snapshot::trace). Otherwise the trace id is derived from the instance id, so every node, worker and receiver
// computes the same id without storing it. A span id is derived from what the span describes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"

namespace cairn {

// 32 hexadecimal digits.
std::string trace_id_of(const InstanceId& instance);
// A run without an instance is a trace of its own.
std::string trace_id_of(const std::optional<InstanceId>& instance, const RunId& run);
// 16 hexadecimal digits. The same text gives the same span.
std::string span_id_of(std::string_view what);
// 00-TRACE-SPAN-01. The flag is always "sampled", because a receiver cannot ask later.
std::string traceparent_of(std::string_view trace_id, std::string_view span_id);

// The span of one attempt of a run.
std::string span_id_of(const RunId& run, int attempt);
std::string traceparent_of(const std::optional<InstanceId>& instance, const RunId& run, int attempt);
// Uses the trace that the run carries (instance/carried_trace.h), if there is one.
std::string traceparent_of(std::string_view carried, const std::optional<InstanceId>& instance, const RunId& run,
                           int attempt);

// Whether the text is VERSION-TRACE-SPAN-FLAGS as W3C defines it; later versions may have more fields. Callers ignore
// text that is not.
bool is_traceparent(std::string_view text);
// Continues a caller's trace with another span. The caller's flags (recorded or not) stay.
std::string continued_traceparent(std::string_view traceparent, std::string_view span_id);
bool is_sampled(std::string_view traceparent);
// The caller's trace if there is one (`carried`, otherwise empty), else the instance's own.
std::string trace_id_of(std::string_view carried, const InstanceId& instance);

}  // namespace cairn
