// Spans of traces, as OTLP tells them to a collector. An instance is one trace, or part of its caller's
// (instance/trace_id.h); requests belong to the trace of whoever sends them.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "engine/slice.h"

namespace cairn::server {

struct Span {
  enum class Kind { internal = 1, server = 2 };  // the numbers are OTLP's
  struct Link {
    std::string trace;
    std::string span;
  };
  using Time = std::chrono::system_clock::time_point;

  std::string trace;
  std::string id;
  std::string parent;  // empty: none
  std::string name;
  Kind kind = Kind::internal;
  Time began;
  Time ended;
  std::vector<std::pair<std::string_view, Json>> attributes;
  std::vector<Link> links;
  bool failed = false;
};

// What a committed unit did to its instances, each in its own trace: a span for the way from one wait to the next,
// linked with the span that began the wait and with the request that ended it (`traceparent`, or empty); and, when an
// instance has ended, the span of its whole life, which is the parent of the others. Nothing of instances whose caller
// does not keep the trace.
std::vector<Span> spans_of(const Slice& unit, std::string_view traceparent, Span::Time now);

// The body of a request to /v1/traces.
Json otlp_document(std::span<const Span> spans, std::string_view node);

}  // namespace cairn::server
