// How a caller's trace travels with what is stored: a run's payload and an event's data carry it as a member of
// their own, so that every store keeps it and a program that reads the tables with plain SQL finds it. Workers and
// receivers never see the member; they get the trace where W3C and CloudEvents have it.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "instance/snapshot.h"

namespace cairn {

// What an instance gives to whatever it causes: its caller's trace, with the span of its own life; empty without one.
std::string carried_by(const Snapshot& instance);

// Beside the members of an object; whatever is no object stands in `$value`, beside it.
inline constexpr std::string_view carried_trace_member = "$traceparent";
inline constexpr std::string_view carried_value_member = "$value";

// `value` itself without a traceparent.
Json with_trace(Json value, std::string_view traceparent);

struct Carried {
  Json value;               // as it was given
  std::string traceparent;  // empty: none, or not one
};
Carried without_trace(const Json& stored);
std::string trace_in(const Json& stored);  // only the traceparent

}  // namespace cairn
