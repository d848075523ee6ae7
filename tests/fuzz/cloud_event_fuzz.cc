// Headers, an empty line and a body as CloudEvents in any mode: what is read has text that every store takes, and an
// event that is written again in both modes reads back the same.
#include "outbox/cloud_event.h"

#include "base/utf8.h"
#include "input.h"

namespace {

bool storable(std::string_view text) {
  return !text.empty() && cairn::is_utf8(text) && text.find('\0') == std::string_view::npos;
}

}  // namespace

void fuzz(std::string_view input) {
  using namespace cairn;
  const EventHeaders headers = fuzzing::take_headers(input);
  for (const auto& [name, value] : headers) {
    if (!is_utf8(name) || !is_utf8(value)) return;  // the server refuses such headers before
  }
  const auto events = read_cloud_events(headers, input);
  if (!events) {
    CAIRN_ASSERT(!events.error().message.empty());
    return;
  }
  for (const InboundEvent& event : *events) {
    CAIRN_ASSERT(storable(event.id) && storable(event.source) && storable(event.type));
    CAIRN_ASSERT(event.subject.is_null() || (event.subject.is_string() && storable(event.subject.as_string())));
    CAIRN_ASSERT(count_code_points(event.unique_id()) <= 200);

    OutboxRow row;
    row.sequence = 7;
    row.event.id = {event.id};
    row.event.type = event.type;
    row.event.data = event.data;
    if (event.subject.is_string()) row.event.subject = std::string(event.subject.as_string());
    const auto structured = read_cloud_event(cloud_event(row, event.source));
    CAIRN_ASSERT(structured.has_value() && structured->id == event.id && structured->type == event.type);
    CAIRN_ASSERT(structured->source == event.source && structured->subject == event.subject);
    const auto binary = read_cloud_events(binary_headers(row, event.source), write_json(content_of(row).data));
    CAIRN_ASSERT(binary.has_value() && binary->size() == 1 && binary->front().id == event.id);
    CAIRN_ASSERT(binary->front().source == event.source && binary->front().subject == event.subject);
    CAIRN_ASSERT(binary->front().data == structured->data);
  }
}
