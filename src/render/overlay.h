// How far an instance is, put over the picture of its definition. Plain data: whoever knows the instance fills it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/time.h"

namespace cairn::render {

enum class Progress { not_reached, done, current, waiting, failing, failed, skipped };
const char* to_string(Progress progress);

struct StepProgress {
  Progress progress = Progress::not_reached;
  std::string waiting_for = {};       // a task's name, a signal's name; empty: nothing to name
  std::optional<Duration> left = {};  // until the wait ends or the next attempt begins
  int attempt = 0;                    // 0: not an attempt
  int attempts_max = 0;
  std::int64_t iteration = 0;   // of a loop, from 1; 0: not in one
  std::int64_t iterations = 0;  // 0: not known
  int visits = 0;               // more than 1: shown
  std::optional<Duration> took = {};
};

struct Overlay {
  std::string instance;  // beside the title
  std::string status;
  // By step id; absent: not reached. Options of a `first` and the `finally` of a `try` are drawn on their own and may
  // have entries of their own, ID.option0 and ID.finally; without one it is derived from the step's.
  std::unordered_map<std::string, StepProgress> steps;
  bool ended = false;  // the end of the main path was reached

  // Of the step with this id, or of that part of it.
  StepProgress of(const std::string& step, const std::string& part = "") const;
};

// What stands on the step's badge, short: "attempt 4/5", "waiting 6h", "3 of 5", "12ms". May be empty.
std::string badge_text(const StepProgress& step);
// The same in words, with everything there is, for the tree and for tooltips.
std::string progress_text(const StepProgress& step);
// ✓ ● ◷ ✗ – or ·
const char* progress_sign(Progress progress);

}  // namespace cairn::render
