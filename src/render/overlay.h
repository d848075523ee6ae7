// The progress of an instance, drawn over the picture of its definition. Plain data: the caller fills it.
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
  std::string waiting_for = {};       // a task's name, a signal's name; empty: none
  std::optional<Duration> left = {};  // until the wait ends or the next attempt starts
  int attempt = 0;                    // 0: not an attempt
  int attempts_max = 0;
  std::int64_t iteration = 0;   // of a loop, from 1; 0: not in a loop
  std::int64_t iterations = 0;  // 0: unknown
  int visits = 0;               // shown if more than 1
  std::optional<Duration> took = {};
};

struct Overlay {
  std::string instance;  // shown beside the title
  std::string status;
  // By step id; absent: not reached. Options of a `first` and the `finally` of a `try` are drawn separately and may
  // have their own entries, ID.option0 and ID.finally. Without one, the progress is derived from the step's entry.
  std::unordered_map<std::string, StepProgress> steps;
  bool ended = false;  // the end of the main path was reached

  // The progress of the step with this id, or of that part of it.
  StepProgress of(const std::string& step, const std::string& part = "") const;
};

// The short text of the step's badge: "attempt 4/5", "waiting 6h", "3 of 5", "12ms". May be empty.
std::string badge_text(const StepProgress& step);
// The full text, for the tree and for tooltips.
std::string progress_text(const StepProgress& step);
// ✓ ● ◷ ✗ – or ·
const char* progress_sign(Progress progress);

}  // namespace cairn::render
