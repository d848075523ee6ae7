// Work that a failing store kept this node from doing, and when to look at everything that is due again. Nothing else
// remembers it: a taken message or timer stays hidden until its hold is over, and a slice that was interrupted has no
// row of its own. Safe from several threads.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/context.h"
#include "engine/listeners.h"

namespace cairn {

class PostponedWork {
 public:
  PostponedWork(EngineContext& context, Listeners& listeners) : context_(context), listeners_(listeners) {}

  // Looks at everything that is due when the hold is over: something of it could not be done now.
  void look_again();
  // Slices that a checkpoint interrupted and that could not continue: tried again after the hold.
  void add_slices(const std::vector<InstanceId>& interrupted);
  // The slices to try again. The caller also looks at everything that is due.
  std::set<std::string> take_slices();
  // When to look again; nothing: nothing was postponed.
  std::optional<Timestamp> next() const;

 private:
  EngineContext& context_;
  Listeners& listeners_;
  mutable std::mutex mutex_;
  std::set<std::string> slices_;
  std::optional<Timestamp> again_at_;
};

}  // namespace cairn
