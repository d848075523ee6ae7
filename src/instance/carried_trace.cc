#include "instance/carried_trace.h"

#include "instance/trace_id.h"

namespace cairn {

std::string carried_by(const Snapshot& instance) {
  return instance.trace.empty() ? std::string()
                                : continued_traceparent(instance.trace, span_id_of(instance.instance.value));
}

Json with_trace(Json value, std::string_view traceparent) {
  if (traceparent.empty()) return value;
  Json carrying = value.is_object() ? std::move(value) : Json::object({{carried_value_member, std::move(value)}});
  carrying.set(carried_trace_member, traceparent);
  return carrying;
}

std::string trace_in(const Json& stored) {
  const Json* const found = stored.is_object() ? stored.find(carried_trace_member) : nullptr;
  const bool good = found != nullptr && found->is_string() && is_traceparent(found->as_string());
  return good ? std::string(found->as_string()) : std::string();
}

Carried without_trace(const Json& stored) {
  if (!stored.is_object() || stored.find(carried_trace_member) == nullptr) return {stored, ""};
  Carried carried;
  carried.traceparent = trace_in(stored);
  if (const Json* const value = stored.find(carried_value_member); value != nullptr && stored.size() == 2) {
    carried.value = *value;
    return carried;
  }
  carried.value = stored;
  carried.value.erase(carried_trace_member);
  return carried;
}

}  // namespace cairn
