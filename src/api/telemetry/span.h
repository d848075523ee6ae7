// Spans of traces in the OTLP format. An instance is its own trace, or part of its caller's (instance/trace_id.h). A
// request belongs to the trace of its sender.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "engine/slice.h"

namespace cairn::api {

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

// The spans of a committed unit, each in the trace of its instance. One span covers the way from one wait to the next;
// it links to the span that opened the wait and to the request that ended it (`traceparent`, may be empty). When an
// instance has ended, one more span covers its whole life and is the parent of the others. Instances whose caller does
// not sample the trace have no spans.
std::vector<Span> spans_of(const Slice& unit, std::string_view traceparent, Span::Time now);

// The body of a request to /v1/traces.
Json otlp_document(std::span<const Span> spans, std::string_view node);

}  // namespace cairn::api
