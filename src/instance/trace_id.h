// W3C trace context. An instance is one trace: that of the request that started it, when its caller brought one
// (Snapshot::trace); else its id follows from the instance's, so that every node, worker and receiver names the same
// one without anything being stored. A span is named by what it stands for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"

namespace cairn {

// 32 hexadecimal digits.
std::string trace_id_of(const InstanceId& instance);
// A run that no instance waits for is a trace of its own.
std::string trace_id_of(const std::optional<InstanceId>& instance, const RunId& run);
// 16 hexadecimal digits. The same text gives the same span.
std::string span_id_of(std::string_view what);
// 00-TRACE-SPAN-01: sampled, because whoever gets it cannot ask back.
std::string traceparent_of(std::string_view trace_id, std::string_view span_id);

// One attempt of a run: a span of the trace that it belongs to.
std::string span_id_of(const RunId& run, int attempt);
std::string traceparent_of(const std::optional<InstanceId>& instance, const RunId& run, int attempt);
// In the trace that the run carries (instance/carried_trace.h), when there is one.
std::string traceparent_of(std::string_view carried, const std::optional<InstanceId>& instance, const RunId& run,
                           int attempt);

// 00-TRACE-SPAN-FLAGS as W3C writes it; what is not is ignored by everybody who gets it.
bool is_traceparent(std::string_view text);
// A caller's trace that goes on with another span. It stays as its caller wanted it: recorded or not.
std::string goes_on(std::string_view traceparent, std::string_view span_id);
bool is_sampled(std::string_view traceparent);
// The caller's trace when there is one (`carried`, else empty), and else the instance's own.
std::string trace_id_of(std::string_view carried, const InstanceId& instance);

}  // namespace cairn
