// Stores a caller's trace with a run's payload and an event's data, as an extra member. Every store keeps it without a
// column, and a program that reads the tables with plain SQL finds it. Workers and receivers never see the member; they
// get the trace in the header or attribute of W3C and CloudEvents.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "instance/snapshot.h"

namespace cairn {

// The trace that an instance passes on: its caller's trace with the span of the instance itself; empty if it has none.
std::string carried_by(const Snapshot& instance);

// Added to the members of an object. A value that is not an object moves to `$value` beside it.
inline constexpr std::string_view carried_trace_member = "$traceparent";
inline constexpr std::string_view carried_value_member = "$value";

// Answers `value` unchanged if `traceparent` is empty.
Json with_trace(Json value, std::string_view traceparent);

struct Carried {
  Json value;               // without the member
  std::string traceparent;  // empty if missing or invalid
};
Carried without_trace(const Json& stored);
std::string trace_in(const Json& stored);  // only the traceparent

}  // namespace cairn
