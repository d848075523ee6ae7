#include "definition/step_kinds.h"

namespace cairn {
namespace {

constexpr double rounds_max = 1e9;

constexpr std::string_view loops[] = {"for_each", "while", "times"};
const Key repeat_keys[] = {
    {"for_each", Shape::list_value, "A list; the body runs once per item."},
    {"while", Shape::condition, "The body runs as long as this is true; needs `max`."},
    {"times", Shape::integer_value, "How often the body runs."},
    {"as", Shape::identifier, "The item's name in the body, `item` when absent."},
    {"max",
     Shape::integer,
     "More rounds than this are an error.",
     false,
     std::nullopt,
     nullptr,
     {},
     Range{1, rounds_max}},
    {"steps", Shape::some_steps, "The body.", true},
};
constexpr Need repeat_needs[] = {{"while", "max"}};
const KeyTable repeat_table{"repeat", repeat_keys, loops, repeat_needs};

const Key repeat_step_keys[] = {
    {"repeat", Shape::object, "Runs its body per item, while a condition holds, or a number of times.", true,
     std::nullopt, &repeat_table},
};

void read_item_name(Fields& fields, RepeatStep& step) {
  Draft& draft = fields.site().draft;
  const auto at = fields.find("as");
  if (step.kind != RepeatStep::Kind::for_each) {
    if (at) {
      draft.findings.error(
          at->key_at(), at->pointer(),
          "`as` names the item of `for_each`; `" + std::string(fields.chosen()) + "` has no item, only `index`");
    }
    return;
  }
  // The canonical form writes the default out.
  const bool usual = !at || (at->node().kind == Json::Kind::string && at->node().scalar.as_string() == "item");
  step.item_name = usual ? "item" : fields.text("as").value_or("item");
  fields.put("as", step.item_name);
  step.item_slot = draft.names.item_slot(step.item_name);
}

void check_times(Fields& fields) {
  const auto at = fields.find("times");
  if (!at || at->node().kind != Json::Kind::integer) return;
  const std::int64_t times = at->node().scalar.as_integer();
  if (times < 0) fields.site().draft.error(*at, "`times` may not be negative");
  const auto max = fields.find("max");
  if (max && max->node().kind == Json::Kind::integer && max->node().scalar.as_integer() < times) {
    fields.site().draft.error(*max, "`max` is less than `times`, so this `repeat` would always fail");
  }
}

StepBody read_repeat(Fields& outer) {
  RepeatStep step;
  const auto at = outer.find("repeat");
  if (!at) return step;
  Fields fields(outer.site(), *at, repeat_table);
  const std::string_view kind = fields.chosen();
  if (kind == "while") step.kind = RepeatStep::Kind::while_true;
  if (kind == "times") step.kind = RepeatStep::Kind::times;
  const Scope indexed = outer.site().scope.in_loop();

  if (fields.find("for_each")) step.over = fields.value("for_each");
  if (fields.find("times")) step.over = fields.value("times");
  check_times(fields);
  read_item_name(fields, step);
  step.condition = fields.condition("while", indexed);
  step.max = fields.integer("max");
  const Scope body = step.item_slot != no_index ? outer.site().scope.in_loop(step.item_slot) : indexed;
  step.body = fields.steps("steps", "repeat", body);
  outer.put("repeat", fields.take());
  return step;
}

}  // namespace

const StepKind repeat_kind{"repeat", "Runs its body per item; a wait inside keeps the iteration.", repeat_step_keys,
                           read_repeat};

}  // namespace cairn
