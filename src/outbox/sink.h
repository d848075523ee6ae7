// Where events of the outbox go. One dispatcher calls a sink, from one thread at a time.
#pragma once

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
  Sink(std::string name, std::vector<std::string> types) : name_(std::move(name)), types_(std::move(types)) {}
  virtual ~Sink() = default;

  const std::string& name() const { return name_; }
  bool wants(std::string_view type) const {
    if (types_.empty()) return true;
    for (const std::string& prefix : types_) {
      if (type.starts_with(prefix)) return true;
    }
    return false;
  }

  // Hands events over, those of one subject in their order: after one that fails the later ones of its subject are
  // not tried. Blocks until all is known; an answer for each, in the same order.
  virtual std::vector<SinkAnswer> deliver(std::span<const OutboxRow> events) = 0;

 private:
  std::string name_;
  std::vector<std::string> types_;
};

}  // namespace cairn
