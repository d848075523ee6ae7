#include "definition/names.h"
#include "definition/step_kinds.h"

namespace cairn {
namespace {

const Key assignment_keys[] = {
    {"path", Shape::path, "Where in state: names joined by dots.", true},
    {"value", Shape::value, "What it becomes.", true},
};
const KeyTable assignment_table{"assignment", assignment_keys};

const Key set_keys[] = {
    {"set", Shape::assignments, "Assigns business state, in the order written; later entries see earlier ones.", true,
     std::nullopt, &assignment_table},
};

void add(Fields& fields, const Cursor& at, SetStep& step, Json::Array& written, StatePath path, Template value,
         Json spelled) {
  fields.site().draft.state_writes.push_back({path, type_of(value), at.key_at(), at.pointer()});
  written.push_back(Json::object({{"path", path.text}, {"value", std::move(spelled)}}));
  step.assignments.push_back({std::move(path), std::move(value)});
}

void read_object(Fields& fields, const Cursor& at, SetStep& step, Json::Array& written) {
  for (const SourceMember& member : at.node().members) {
    std::optional<StatePath> path = parse_state_path(member.key);
    if (!path) {
      fields.site().draft.findings.error(member.key_at, at.pointer_to(member.key),
                                         "`" + member.key +
                                             "` is no path into state; names are joined by dots, as in "
                                             "`score.value`, and list indexes are not possible");
    }
    Json spelled;
    Template value = read_value(fields.site(), at.member(member), Expect::anything, false, spelled);
    if (path) add(fields, at.member(member), step, written, std::move(*path), std::move(value), std::move(spelled));
  }
}

void read_list(Fields& fields, const Cursor& at, SetStep& step, Json::Array& written) {
  for (std::size_t i = 0; i < at.node().items.size(); ++i) {
    Fields entry(fields.site(), at.item(i), assignment_table);
    std::optional<StatePath> path = entry.path("path");
    std::optional<Template> value = entry.value("value");
    if (path && value) {
      const Json spelled = entry.take()["value"];
      add(fields, at.item(i), step, written, std::move(*path), std::move(*value), spelled);
    }
  }
}

StepBody read_set(Fields& fields) {
  SetStep step;
  const auto at = fields.find("set");
  if (!at) return step;
  Json::Array written;
  if (at->node().kind == Json::Kind::object) {
    read_object(fields, *at, step, written);
  } else if (at->node().kind == Json::Kind::array) {
    read_list(fields, *at, step, written);
  } else {
    fields.site().draft.error(*at, "`set` takes an object such as `{decision: approved}`, not " + describe(at->node()));
  }
  fields.put("set", Json(std::move(written)));
  return step;
}

}  // namespace

const StepKind set_kind{"set", "Assigns business state.", set_keys, read_set};

}  // namespace cairn
