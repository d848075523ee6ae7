// The units of one transaction with their answers, as they pass from thread to thread. A batch has one owner at a time,
// so it has no lock.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "store/unit.h"

namespace cairn {

// Receives the outcome of a unit and the unit itself, so that its sender need not keep a copy.
using CommitAnswer = std::function<void(Result<CommitOutcome>, Unit&& unit)>;

struct CommitBatch {
  // The store reads a part while later parts are added, so each part stays in its place.
  std::vector<std::vector<Unit>> parts;
  std::vector<CommitAnswer> answers;  // one for each unit, in order
  std::optional<Result<std::vector<CommitOutcome>>> outcomes;

  std::size_t size() const { return answers.size(); }
  // Calls every answer once, after the outcomes are set.
  void answer();
};

}  // namespace cairn
