// W3C trace context. An instance is one trace: its id follows from the instance's, so that every node, worker and
// receiver names the same one without anything being stored. A span is named by what it stands for.
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

}  // namespace cairn
