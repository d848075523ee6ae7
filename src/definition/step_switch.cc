#include <algorithm>

#include "definition/step_kinds.h"

namespace cairn {
namespace {

constexpr std::string_view case_kinds[] = {"when", "default"};
const Key case_keys[] = {
    {"when", Shape::condition, "The first case whose condition is true runs."},
    {"steps", Shape::steps, "What runs."},
    {"default", Shape::steps, "Runs when no case matches; the last entry."},
};
constexpr Need case_needs[] = {{"when", "steps"}};
const KeyTable case_table{"case", case_keys, case_kinds, case_needs};

const Key switch_keys[] = {
    {"switch", Shape::objects, "Cases in order; the first match runs.", true, std::nullopt, &case_table},
};

bool has_default(const SourceNode& entry) {
  return entry.kind == Json::Kind::object && entry.find_member("default") != nullptr;
}

void check_default(Fields& entry, bool last, const SourceMember*& first_default) {
  Draft& draft = entry.site().draft;
  const SourceMember* member = entry.at().node().find_member("default");
  const std::string pointer = entry.at().pointer_to("default");
  if (first_default != nullptr) {
    draft.findings.error(
        member->key_at, pointer,
        "`default` may occur once; the first one is on line " + std::to_string(first_default->key_at.line));
    return;
  }
  first_default = member;
  if (!last) draft.findings.error(member->key_at, pointer, "`default` must be the last entry of `switch`");
}

StepBody read_switch(Fields& fields) {
  SwitchStep step;
  const auto list = fields.list("switch");
  if (!list) return step;
  const std::vector<SourceNode>& items = list->node().items;
  const std::size_t count = items.size();
  const SourceMember* first_default = nullptr;
  Json::Array written;
  Json otherwise = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    const Cursor at = list->item(i);
    Fields entry(fields.site(), at, case_table);
    if (entry.chosen() == "default") {
      // If there are several defaults, only those after the first are errors.
      const bool further = std::any_of(items.begin() + static_cast<std::ptrdiff_t>(i) + 1, items.end(), has_default);
      check_default(entry, i + 1 == count || further, first_default);
      if (const auto extra = entry.find("steps")) {
        fields.site().draft.findings.error(extra->key_at(), extra->pointer(),
                                           "the steps of `default` stand right under it: `default: [ … ]`");
      }
      const SourceNode& given = entry.find("default")->node();
      if (given.kind != Json::Kind::array || !given.items.empty()) step.otherwise = entry.steps("default", "default");
      otherwise = entry.take()["default"];
      continue;
    }
    SwitchStep::Case held;
    held.when = entry.condition("when").value_or(expr::Expression());
    held.steps = entry.steps("steps", "case" + std::to_string(step.cases.size()));
    step.cases.push_back(std::move(held));
    written.push_back(entry.take());
  }
  written.push_back(Json::object({{"default", otherwise.is_array() ? otherwise : Json::array()}}));
  fields.put("switch", Json(std::move(written)));
  return step;
}

}  // namespace

const StepKind switch_kind{"switch", "The first case that matches runs.", switch_keys, read_switch};

}  // namespace cairn
