// Where events of the outbox go. One dispatcher calls a sink, from one thread at a time.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "store/rows.h"

namespace cairn {

struct SinkAnswer {
  enum class Kind { taken, failed, not_tried };
  Kind kind = Kind::not_tried;
  std::string error;                    // of a failed one
  std::optional<Duration> retry_after;  // what the receiver asked for
};

class Sink {
 public:
  // With `types` only events whose type begins with one of them.
  Sink(std::string name, std::vector<std::string> types) : filter_{std::move(name), std::move(types)} {}
  virtual ~Sink() = default;

  const std::string& name() const { return filter_.name; }
  const SinkFilter& filter() const { return filter_; }

  // Hands events over, those of one subject in their order: after one that fails the later ones of its subject are
  // not tried. Blocks until all is known; an answer for each, in the same order.
  virtual std::vector<SinkAnswer> deliver(std::span<const OutboxRow> events) = 0;
  // From another thread: nothing more is sent. What was sent is still waited for; the rest is not tried.
  void stop() { stopping_ = true; }

 protected:
  bool stopping() const { return stopping_; }

 private:
  SinkFilter filter_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace cairn
