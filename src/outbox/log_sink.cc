#include "outbox/log_sink.h"

#include "base/log.h"
#include "outbox/cloud_event.h"

namespace cairn {

std::vector<SinkAnswer> LogSink::deliver(std::span<const OutboxRow> events) {
  std::vector<SinkAnswer> answers;
  for (const OutboxRow& row : events) {
    const EventContent content = content_of(row);
    log_info("event", {{"id", row.event.id.value},
                       {"type", row.event.type},
                       {"subject", row.event.subject},
                       {"sequence", std::to_string(row.sequence)},
                       {"traceparent", content.traceparent},
                       {"data", write_json(content.data)}});
    answers.push_back({SinkAnswer::Kind::taken, "", std::nullopt});
  }
  return answers;
}

}  // namespace cairn
