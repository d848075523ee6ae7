// Writes events as lines of the log.
#pragma once

#include "outbox/sink.h"

namespace cairn {

class LogSink final : public Sink {
 public:
  using Sink::Sink;
  std::vector<SinkAnswer> deliver(std::span<const OutboxRow> events) override;
};

}  // namespace cairn
