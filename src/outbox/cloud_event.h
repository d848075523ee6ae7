// CloudEvents 1.0: writes outbox rows as CloudEvents and reads CloudEvents that others send.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "base/result.h"
#include "cairn/sink.h"
#include "store/rows.h"

namespace cairn {

using EventHeaders = std::vector<std::pair<std::string, std::string>>;  // names are in lower case

inline constexpr const char* structured_type = "application/cloudevents+json";
inline constexpr const char* batch_type = "application/cloudevents-batch+json";

// The data of `emit`, and the trace: the caller's if it sent one, else the instance's; empty if there is none.
struct EventContent {
  Json data;
  std::string traceparent;
};
EventContent content_of(const OutboxRow& row);

// Binary mode: the attributes are headers, and the body is the data alone.
EventHeaders binary_headers(const OutboxRow& row, const std::string& source);

// Returns the id, or its hash if the id is longer than a signal id may be (200 characters).
std::string short_id(std::string id);

// An event received from outside.
struct InboundEvent {
  std::string id;
  std::string source;
  std::string type;
  Json subject;  // text or null
  Json data;
  // The same for every delivery of one event, and short enough for a signal id.
  std::string unique_id() const { return short_id(source + " " + id); }
};
// ErrorCode::invalid names the missing or wrong attribute.
Result<InboundEvent> read_cloud_event(const Json& event);
// Accepts every mode: structured, batched or binary. The content type and the headers tell which one it is.
Result<std::vector<InboundEvent>> read_cloud_events(const EventHeaders& headers, std::string_view body,
                                                    std::size_t batch_max = Limits().event_batch_max);

}  // namespace cairn
