// A function of this process as a sink. It returns true if it accepted the event. After false or an exception the event
// is delivered again later.
#pragma once

#include <functional>

#include "base/json.h"
#include "outbox/sink.h"

namespace cairn {

using EventHandler = std::function<bool(const Json& cloud_event)>;

class Subscriber final : public Sink {
 public:
  Subscriber(std::string name, std::vector<std::string> types, std::string source, EventHandler handler)
      : Sink(std::move(name), std::move(types)), source_(std::move(source)), handler_(std::move(handler)) {}
  std::vector<SinkAnswer> deliver(std::span<const OutboxRow> events) override;

 private:
  std::string source_;
  EventHandler handler_;
};

}  // namespace cairn
