#include "api/telemetry/span.h"

#include "api/telemetry/trace_context.h"
#include "base/version.h"
#include "instance/trace_id.h"

namespace cairn::api {
namespace {

std::string span_of_state_version(const InstanceId& id, std::uint64_t state_version) {
  return span_id_of(id.value + "@" + std::to_string(state_version));
}

std::string nanoseconds(Span::Time time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

// OTLP's JSON writes integers as text.
Json attribute(std::string_view name, const Json& value) {
  Json holder = Json::object();
  if (value.is_integer()) {
    holder.set("intValue", std::to_string(value.as_integer()));
  } else if (value.is_bool()) {
    holder.set("boolValue", value);
  } else {
    holder.set("stringValue", value.is_string() ? value : Json(write_json(value)));
  }
  return Json::object({{"key", name}, {"value", holder}});
}

Json attributes(std::span<const std::pair<std::string_view, Json>> list) {
  Json items = Json::array();
  for (const auto& [name, value] : list) items.push_back(attribute(name, value));
  return items;
}

Json document(const Span& span) {
  Json json = Json::object({{"traceId", span.trace},
                            {"spanId", span.id},
                            {"name", span.name},
                            {"kind", static_cast<std::int64_t>(span.kind)},
                            {"startTimeUnixNano", nanoseconds(span.began)},
                            {"endTimeUnixNano", nanoseconds(span.ended)},
                            {"attributes", attributes(span.attributes)}});
  if (!span.parent.empty()) json.set("parentSpanId", span.parent);
  if (!span.links.empty()) {
    Json links = Json::array();
    for (const Span::Link& link : span.links) {
      links.push_back(Json::object({{"traceId", link.trace}, {"spanId", link.span}}));
    }
    json.set("links", links);
  }
  if (span.failed) json.set("status", Json::object({{"code", 2}}));
  return json;
}

Span span_of_life(const Snapshot& instance, Span::Time now) {
  Span span;
  span.trace = trace_id_of(instance.trace, instance.instance);
  span.id = span_id_of(instance.instance.value);
  if (!instance.trace.empty()) span.parent = instance.trace.substr(36, 16);
  span.name = "workflow " + instance.program.name;
  // The start is in the store's time. If the clock was moved it may be later than now.
  span.began = std::min(now, Span::Time(std::chrono::milliseconds(instance.started_at.unix_ms())));
  span.ended = now;
  span.attributes = {{"cairn.instance", instance.instance.value},
                     {"cairn.definition", instance.program.name},
                     {"cairn.definition_version", instance.program.version},
                     {"cairn.status", to_string(instance.status)}};
  // An instance that continues its caller's trace already has its parent there.
  if (instance.parent && instance.trace.empty()) {
    span.links.push_back({trace_id_of(instance.parent->instance), span_id_of(instance.parent->instance.value)});
  }
  span.failed = instance.status == Status::failed;
  return span;
}

}  // namespace

std::vector<Span> spans_of(const Slice& unit, std::string_view traceparent, Span::Time now) {
  std::vector<Span> spans;
  if (unit.stale()) return spans;
  for (const auto& [id, place] : unit.instances()) {
    const Snapshot& after = unit.latest(id);
    if (!after.trace.empty() && !is_sampled(after.trace)) continue;
    const std::uint64_t from = unit.from_state_version(id);
    Span span;
    span.trace = trace_id_of(after.trace, after.instance);
    span.id = span_of_state_version(after.instance, after.state_version);
    span.parent = span_id_of(after.instance.value);
    const bool caused = after.instance == unit.last().instance;  // the others are its children and continuations
    span.name = std::string("advance ") + (caused ? unit.cause() : from == 0 ? "started" : "child_finished");
    span.began = unit.began();
    span.ended = now;
    span.attributes = {{"cairn.instance", after.instance.value},
                       {"cairn.definition", after.program.name},
                       {"cairn.definition_version", after.program.version},
                       {"cairn.state_version", static_cast<std::int64_t>(after.state_version)},
                       {"cairn.status", to_string(after.status)},
                       {"cairn.actor", unit.actor()}};
    if (from > 0) span.links.push_back({span.trace, span_of_state_version(after.instance, from)});
    if (caused && !traceparent.empty()) {
      span.links.push_back({std::string(traceparent.substr(3, 32)), std::string(traceparent.substr(36, 16))});
    }
    span.failed = after.status == Status::failed || after.status == Status::suspended;
    spans.push_back(std::move(span));
    if (is_final(after.status)) spans.push_back(span_of_life(after, now));
  }
  return spans;
}

Json otlp_document(std::span<const Span> spans, std::string_view node) {
  Json list = Json::array();
  for (const Span& span : spans) list.push_back(document(span));
  const std::vector<std::pair<std::string_view, Json>> about{
      {"service.name", "cairn"}, {"service.version", version_text}, {"service.instance.id", node}};
  const Json scope = Json::object({{"name", "cairn"}, {"version", version_text}});
  const Json resource = Json::object({{"attributes", attributes(about)}});
  return Json::object(
      {{"resourceSpans", Json::array({Json::object(
                             {{"resource", resource},
                              {"scopeSpans", Json::array({Json::object({{"scope", scope}, {"spans", list}})})}})})}});
}

}  // namespace cairn::api
