// CloudEvents 1.0: what stands in the outbox as others read it, and what others send here.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "store/rows.h"

namespace cairn {

using EventHeaders = std::vector<std::pair<std::string, std::string>>;  // names in lower case

inline constexpr const char* structured_type = "application/cloudevents+json";
inline constexpr const char* batch_type = "application/cloudevents-batch+json";

// The data as `emit` gave it, and the trace: of the caller that began it, else of the instance; empty: of nobody.
struct EventContent {
  Json data;
  std::string traceparent;
};
EventContent content_of(const OutboxRow& row);

// The whole event as JSON. `source` says which cairn it comes from; with the id it is unique. The extension
// `sequence` is the place in the outbox, `instance` the instance that caused it, `traceparent` its trace.
Json cloud_event(const OutboxRow& row, const std::string& source);
// Binary mode: the attributes as headers, the data alone as the body.
EventHeaders binary_headers(const OutboxRow& row, const std::string& source);

// The id itself, or its hash when it is longer than a signal's id may be (200 characters).
std::string short_id(std::string id);

// An event that came in.
struct InboundEvent {
  std::string id;
  std::string source;
  std::string type;
  Json subject;  // text or null
  Json data;
  // The same for every delivery of it, and short enough to be a signal's id.
  std::string unique_id() const { return short_id(source + " " + id); }
};
// ErrorCode::invalid says which attribute is missing or wrong.
Result<InboundEvent> read_cloud_event(const Json& event);
// Any mode, told by the content type and the headers: structured, batched, or binary.
Result<std::vector<InboundEvent>> read_cloud_events(const EventHeaders& headers, std::string_view body);

}  // namespace cairn
