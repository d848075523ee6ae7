// W3C trace context: which trace a request belongs to.
#pragma once

#include <string>
#include <string_view>

namespace cairn::server {

struct TraceContext {
  std::string trace;   // 32 hexadecimal digits
  std::string parent;  // 16: the caller's span; empty when the trace begins here
  std::string span;    // 16: this request
  bool sampled = false;

  std::string header() const;  // 00-TRACE-SPAN-FLAGS
  // What the request causes goes on with its caller's trace; empty when the caller brought none.
  std::string carried() const { return parent.empty() ? std::string() : header(); }
};

// Goes on with `traceparent`, or begins a trace when there is none or it is malformed.
TraceContext trace_of(std::string_view traceparent);

}  // namespace cairn::server
