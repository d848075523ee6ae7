#include <set>

#include "base/suggest.h"
#include "definition/checks.h"
#include "definition/draft.h"

namespace cairn {
namespace {

std::set<std::string> task_names(const Program& program) {
  std::set<std::string> names;
  for (const Step& step : program.steps) {
    if (const auto* task = std::get_if<TaskStep>(&step.body)) names.insert(task->task.name);
    const auto* first = std::get_if<FirstStep>(&step.body);
    if (first == nullptr) continue;
    for (const FirstStep::Option& option : first->options) {
      if (const auto* task = std::get_if<TaskSpec>(&option.wait)) names.insert(task->name);
    }
  }
  return names;
}

const std::vector<std::string>* four_eyes_of(const Step& step, std::size_t option, const std::string*& name) {
  const TaskSpec* spec = nullptr;
  if (const auto* task = std::get_if<TaskStep>(&step.body); task != nullptr && option == 0) spec = &task->task;
  if (const auto* first = std::get_if<FirstStep>(&step.body); first != nullptr && option < first->options.size()) {
    spec = std::get_if<TaskSpec>(&first->options[option].wait);
  }
  if (spec == nullptr) return nullptr;
  name = &spec->name;
  return &spec->four_eyes;
}

std::size_t options_of(const Step& step) {
  const auto* first = std::get_if<FirstStep>(&step.body);
  return first != nullptr ? first->options.size() : 1;
}

}  // namespace

void check_four_eyes(Draft& draft) {
  const std::set<std::string> names = task_names(draft.program);
  for (const Draft::FourEyes& use : draft.four_eyes) {
    if (use.other == use.task) {
      draft.findings.error(use.at, use.pointer,
                           "`four_eyes` names other tasks; `" + use.task + "` is this task itself");
    } else if (!names.contains(use.other)) {
      const std::vector<std::string_view> known(names.begin(), names.end());
      std::string message = "`four_eyes` names `" + use.other + "`, but no task has this name";
      if (const auto near = nearest_name(use.other, known)) message += "; did you mean `" + *near + "`?";
      draft.findings.error(use.at, use.pointer, std::move(message));
    }
  }
  // The task and the names that it lists are one group: of these, a person completes only one.
  for (const Step& step : draft.program.steps) {
    for (std::size_t i = 0; i < options_of(step); ++i) {
      const std::string* name = nullptr;
      const auto* listed = four_eyes_of(step, i, name);
      if (listed == nullptr || listed->empty()) continue;
      std::vector<std::string> group = *listed;
      group.push_back(*name);
      for (const std::string& one : group) {
        for (const std::string& other : group) {
          if (one != other) draft.program.four_eyes[one].insert(other);
        }
      }
    }
  }
}

}  // namespace cairn
