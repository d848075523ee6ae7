#include "render/step_text.h"

#include "render/label.h"

namespace cairn::render {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::string value_text(const Template& value) {
  if (const Json* constant = value.constant()) {
    return constant->is_string() ? std::string(constant->as_string()) : write_json(*constant);
  }
  if (const expr::Expression* expression = value.single()) return condition_text(*expression);
  return "";
}

// The target of a request: the host and path of a literal URL.
std::string address_text(const CallStep& call) {
  const Json* request = call.request.constant();
  if (!request) return "";
  std::string_view url = request->text_or("url", "");
  if (const auto scheme = url.find("://"); scheme != url.npos) url.remove_prefix(scheme + 3);
  return std::string(url.substr(0, url.find('?')));
}

std::string call_text(const CallStep& call) {
  if (!call.worker_type.empty()) return call.worker_type;
  const std::string address = address_text(call);
  return address.empty() ? "call " + call.transport : address;
}

std::string set_text(const SetStep& set) {
  std::string text = "set ";
  for (std::size_t i = 0; i < set.assignments.size(); ++i) text += (i ? ", " : "") + set.assignments[i].path.text;
  return text;
}

std::string describe(const StepBody& body) {
  return std::visit(Overloaded{
                        [](const SetStep& set) { return set_text(set); },
                        [](const ReferenceStep&) { return std::string("set reference"); },
                        [](const TaskStep& task) { return task_text(task.task); },
                        [](const CallStep& call) { return call_text(call); },
                        [](const IfStep& choice) { return condition_text(choice.condition); },
                        [](const SwitchStep& choice) {
                          const SwitchText text = switch_text(choice);
                          return text.question.empty() ? std::string("which case?") : text.question;
                        },
                        [](const RepeatStep& repeat) { return repeat_text(repeat); },
                        [](const ParallelStep&) { return std::string("in parallel"); },
                        [](const FirstStep&) { return std::string("whichever is first"); },
                        [](const WaitStep& wait) { return wait_text(wait.wait); },
                        [](const SignalStep& signal) { return signal.signal.name; },
                        [](const SubworkflowStep& child) { return child.name; },
                        [](const ContinueStep& next) { return "start " + next.name; },
                        [](const EmitStep& emit) { return "emit " + value_text(emit.type); },
                        [](const TryStep&) { return std::string("try"); },
                        [](const UndoStep&) { return std::string("undo"); },
                        [](const FailStep& fail) { return fail.code; },
                        [](const CompleteStep&) { return std::string("complete"); },
                    },
                    body);
}

// Turns an id into words: draw_up is "draw up".
std::string spaced(std::string id) {
  for (char& c : id) c = c == '_' ? ' ' : c;
  return plain_text(id);
}

// For conditions and ends, a description is more useful than the id.
bool prefers_description(const StepBody& body) {
  return std::holds_alternative<IfStep>(body) || std::holds_alternative<SwitchStep>(body) ||
         std::holds_alternative<RepeatStep>(body) || std::holds_alternative<FailStep>(body) ||
         std::holds_alternative<CompleteStep>(body);
}

}  // namespace

std::string step_text(const Step& step) {
  if (!step.title.empty()) return plain_text(step.title);
  if (step.id != step.path && !prefers_description(step.body)) return spaced(step.id);
  return plain_text(describe(step.body));
}

std::string duration_text(const DurationTemplate& duration) {
  return duration.literal ? format_duration_short(*duration.literal) : condition_text(duration.expression);
}

std::string deadline_text(const DeadlineSpec& deadline) {
  if (deadline.after) return "after " + duration_text(*deadline.after);
  if (!deadline.at) return "at the deadline";
  return "at " +
         (deadline.at->literal ? format_timestamp(*deadline.at->literal) : condition_text(deadline.at->expression));
}

std::string wait_text(const WaitSpec& wait) {
  if (wait.duration) return "wait " + duration_text(*wait.duration);
  if (!wait.until) return "wait";
  return "until " +
         (wait.until->literal ? format_timestamp(*wait.until->literal) : condition_text(wait.until->expression));
}

std::string task_text(const TaskSpec& task) {
  if (task.title && task.title->constant() && task.title->constant()->is_string()) {
    return std::string(task.title->constant()->as_string());
  }
  return task.name;
}

std::string repeat_text(const RepeatStep& repeat) {
  switch (repeat.kind) {
    case RepeatStep::Kind::for_each: return "for each " + (repeat.item_name.empty() ? "item" : repeat.item_name);
    case RepeatStep::Kind::while_true: return "while " + (repeat.condition ? condition_text(*repeat.condition) : "");
    case RepeatStep::Kind::times: return (repeat.over ? value_text(*repeat.over) : "") + " times";
  }
  return "repeat";
}

std::string condition_text(const expr::Expression& condition) {
  const std::string& text = condition.text();
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins_name = at == 0 || !is_name_byte(text[at - 1]);
    bool dropped = false;
    for (const std::string_view prefix : {std::string_view("state."), std::string_view("input.")}) {
      if (begins_name && std::string_view(text).substr(at).starts_with(prefix) && at + prefix.size() < text.size() &&
          text[at + prefix.size()] != '?') {
        at += prefix.size();
        dropped = true;
        break;
      }
    }
    if (!dropped) out += text[at++];
  }
  return plain_text(out);
}

SwitchText switch_text(const SwitchStep& step) {
  SwitchText found;
  std::string asked;
  for (const SwitchStep::Case& one : step.cases) {
    const std::string& text = one.when.text();
    const std::size_t equals = text.find(" == ");
    if (equals == std::string::npos || equals == 0) return {};
    const std::string left = text.substr(0, equals);
    for (const char c : left) {
      if (!is_name_byte(c)) return {};
    }
    if (!asked.empty() && asked != left) return {};
    asked = left;
    const Result<Json> answer = parse_json(text.substr(equals + 4));
    if (!answer || answer->is_array() || answer->is_object()) return {};
    found.answers.push_back(plain_text(answer->is_string() ? answer->as_string() : write_json(*answer)));
  }
  if (asked.empty()) return {};
  for (const std::string_view prefix : {std::string_view("state."), std::string_view("input.")}) {
    if (asked.starts_with(prefix)) asked.erase(0, prefix.size());
  }
  found.question = plain_text(asked) + "?";
  return found;
}

}  // namespace cairn::render
