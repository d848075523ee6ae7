// W3C trace context: the trace of a request.
#pragma once

#include <string>
#include <string_view>

namespace cairn::api {

struct TraceContext {
  std::string trace;   // 32 hexadecimal digits
  std::string parent;  // 16: the caller's span; empty if the trace starts here
  std::string span;    // 16: this request
  bool sampled = false;

  std::string header() const;  // 00-TRACE-SPAN-FLAGS
  // The trace for everything that the request causes; empty if the caller sent none.
  std::string carried() const { return parent.empty() ? std::string() : header(); }
};

// Continues `traceparent`, or starts a trace if it is absent or malformed.
TraceContext trace_of(std::string_view traceparent);

}  // namespace cairn::api
