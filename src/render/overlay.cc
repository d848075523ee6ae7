#include "render/overlay.h"

namespace cairn::render {
namespace {

// At most two units, so that it stays readable: 1d 4h, 2m 10s, 38ms.
std::string short_time(Duration value) {
  if (value.negative()) value = {};
  const std::int64_t s = value.seconds;
  const auto two = [](std::int64_t big, const char* big_unit, std::int64_t small, const char* small_unit) {
    std::string text = std::to_string(big) + big_unit;
    if (small > 0) text += " " + std::to_string(small) + small_unit;
    return text;
  };
  if (s >= 86400) return two(s / 86400, "d", s % 86400 / 3600, "h");
  if (s >= 3600) return two(s / 3600, "h", s % 3600 / 60, "m");
  if (s >= 60) return two(s / 60, "m", s % 60, "s");
  if (s >= 1) return std::to_string(s) + "s";
  return std::to_string(value.nanos / 1'000'000) + "ms";
}

std::string round_text(const StepProgress& step) {
  std::string text = std::to_string(step.iteration);
  return step.iterations > 0 ? text + " of " + std::to_string(step.iterations) : "round " + text;
}

std::string attempt_text(const StepProgress& step) {
  std::string text = "attempt " + std::to_string(step.attempt);
  return step.attempts_max > 0 ? text + "/" + std::to_string(step.attempts_max) : text;
}

}  // namespace

StepProgress Overlay::of(const std::string& step, const std::string& part) const {
  if (!part.empty()) {
    if (const auto found = steps.find(step + "." + part); found != steps.end()) return found->second;
  }
  const auto found = steps.find(step);
  StepProgress whole = found == steps.end() ? StepProgress{} : found->second;
  if (part.empty()) return whole;
  StepProgress derived;
  const bool over = whole.progress == Progress::done;
  if (part == "finally") {
    derived.progress = over ? Progress::done : Progress::not_reached;
  } else if (part == "when") {
    derived.progress = whole.progress == Progress::not_reached ? Progress::not_reached : Progress::done;
  } else if (!over) {
    // The step does not tell which option won. While it waits, all of them wait.
    derived.progress = whole.progress;
  }
  return derived;
}

std::string badge_text(const StepProgress& step) {
  switch (step.progress) {
    case Progress::failing:
    case Progress::failed:
      if (step.attempt > 0) return attempt_text(step);
      return step.progress == Progress::failed ? "failed" : "failing";
    case Progress::waiting: return step.left ? "waiting " + short_time(*step.left) : "waiting";
    case Progress::current:
      if (step.attempt > 1) return attempt_text(step);
      return step.iteration > 0 ? round_text(step) : "";
    case Progress::done:
      if (step.iteration > 0) return round_text(step);
      if (step.visits > 1) return std::to_string(step.visits) + " times";
      return step.took ? short_time(*step.took) : "";
    case Progress::skipped: return "skipped";
    case Progress::not_reached: return "";
  }
  return "";
}

std::string progress_text(const StepProgress& step) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (step.progress == Progress::waiting) {
    std::string waiting = "waiting";
    if (!step.waiting_for.empty()) waiting += " for " + step.waiting_for;
    if (step.left) waiting += ", " + short_time(*step.left) + " left";
    add(waiting);
  }
  if (step.progress == Progress::skipped || step.progress == Progress::failed) add(to_string(step.progress));
  if (step.attempt > 1 || (step.attempt == 1 && step.progress == Progress::failing)) add(attempt_text(step));
  if (step.progress == Progress::failing && step.left) add("next in " + short_time(*step.left));
  if (step.iteration > 0) add(round_text(step));
  if (step.visits > 1) add(std::to_string(step.visits) + " times");
  if (step.took) add(short_time(*step.took));
  return text;
}

const char* to_string(Progress progress) {
  switch (progress) {
    case Progress::not_reached: return "not reached";
    case Progress::done: return "done";
    case Progress::current: return "current";
    case Progress::waiting: return "waiting";
    case Progress::failing: return "failing";
    case Progress::failed: return "failed";
    case Progress::skipped: return "skipped";
  }
  return "";
}

const char* progress_sign(Progress progress) {
  switch (progress) {
    case Progress::not_reached: return "·";
    case Progress::done: return "✓";
    case Progress::current: return "●";
    case Progress::waiting: return "◷";
    case Progress::failing: return "!";
    case Progress::failed: return "✗";
    case Progress::skipped: return "–";
  }
  return "·";
}

}  // namespace cairn::render
