// The texts on the steps of a diagram, taken from the definition.
#pragma once

#include <string>
#include <vector>

#include "definition/program.h"

namespace cairn::render {

// The title, otherwise the author's id, otherwise what the step does. A decision without a title shows its condition.
std::string step_text(const Step& step);

// Labels on the edges: "after 2d", "on timeout".
std::string deadline_text(const DeadlineSpec& deadline);
std::string duration_text(const DurationTemplate& duration);
std::string wait_text(const WaitSpec& wait);
std::string task_text(const TaskSpec& task);
std::string repeat_text(const RepeatStep& repeat);

// A switch whose cases all compare the same value is drawn as one question with answers: `state.risk == "low"` and
// `state.risk == "high"` become "risk?" with "low" and "high".
struct SwitchText {
  std::string question;              // empty: the cases compare different values
  std::vector<std::string> answers;  // one per case
};
SwitchText switch_text(const SwitchStep& step);

// The expression without the prefixes `state.` and `input.`.
std::string condition_text(const expr::Expression& condition);

}  // namespace cairn::render
