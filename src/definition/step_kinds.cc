#include "definition/step_kinds.h"

#include <array>

#include "base/suggest.h"
#include "definition/names.h"

namespace cairn {
namespace {

const Key common_keys[] = {
    {"id", Shape::step_id, "Names the step; unique in the definition. Without one the step is named by its place."},
    {"title", Shape::text, "What people see in diagrams and lists."},
    {"when", Shape::condition, "The step is skipped unless this is true when it is reached."},
    {"compensate", Shape::steps, "Registered when the step has ended without error; runs when the process is undone."},
    {"type", Shape::derived, "The kind of the step, written into the canonical form."},
};

const std::vector<std::string_view>& kind_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> made;
    for (const StepKind& kind : step_kinds()) made.push_back(kind.name);
    return made;
  }();
  return names;
}

// The table of a kind including the common keys, made once.
const KeyTable& step_table(const StepKind& kind) {
  struct Full {
    std::vector<Key> keys;
    KeyTable table;
  };
  static const std::vector<Full> all = [] {
    std::vector<Full> made;
    made.reserve(step_kinds().size());
    for (const StepKind& each : step_kinds()) {
      Full& full = made.emplace_back();
      full.keys.assign(each.keys.begin(), each.keys.end());
      full.keys.insert(full.keys.end(), std::begin(common_keys), std::end(common_keys));
      full.table = {each.name, full.keys, {}, {}, kind_names()};
    }
    return made;
  }();
  return all[static_cast<std::size_t>(&kind - step_kinds().data())].table;
}

// Reports a step whose keys name no kind: a misspelled kind, a stray `else`, or no key at all.
void report_no_kind(Draft& draft, const Cursor& at) {
  const std::vector<std::string_view>& names = kind_names();
  bool told = false;
  for (const SourceMember& member : at.node().members) {
    const bool common = [&] {
      for (const Key& key : common_keys) {
        if (key.name == member.key) return true;
      }
      return false;
    }();
    if (common) continue;
    std::string message;
    for (const StepKind& kind : step_kinds()) {
      for (const Key& key : kind.keys) {
        if (key.name == member.key)
          message = "`" + member.key + "` belongs to `" + std::string(kind.name) + "`, which is missing in this step";
      }
    }
    if (message.empty()) {
      message = "unknown key `" + member.key + "`";
      if (const auto near = nearest_name(member.key, names)) {
        message += "; did you mean `" + *near + "`?";
      } else {
        message += "; a step is one of " + list_in_words(names);
      }
    }
    draft.findings.error(member.key_at, at.pointer_to(member.key), std::move(message));
    told = true;
  }
  if (!told) draft.error_at_key(at, "this step does nothing yet; add one of " + list_in_words(names));
}

// The kind of the step at `at`, or nullptr after reporting that it has none. If it has two, the second is reported.
const StepKind* kind_of(Draft& draft, const Cursor& at) {
  const StepKind* kind = nullptr;
  for (const SourceMember& member : at.node().members) {
    const StepKind* found = find_step_kind(member.key);
    if (found == nullptr) continue;
    if (kind == nullptr) {
      kind = found;
      continue;
    }
    draft.findings.error(member.key_at, at.pointer_to(member.key),
                         "`" + std::string(kind->name) + "` and `" + member.key +
                             "` exclude each other; make them two steps, each with its own `- `");
  }
  if (kind == nullptr) report_no_kind(draft, at);
  return kind;
}

std::string read_id(Fields& fields, const std::string& path) {
  Draft& draft = fields.site().draft;
  const auto at = fields.find("id");
  // The canonical form writes the place of a step without an id.
  const bool place = at && at->node().kind == Json::Kind::string && at->node().scalar.as_string() == path;
  if (!at || place) {
    fields.put("id", path);
    return path;
  }
  const std::optional<std::string> id = fields.text("id");
  if (!id) return path;
  const auto [first, fresh] = draft.ids.try_emplace(*id, at->at());
  if (!fresh) {
    std::string message = "another step has the id `" + *id + "` already";
    if (first->second.line > 0) message += ", on line " + std::to_string(first->second.line);
    draft.error(*at, std::move(message));
  }
  return *id;
}

void read_compensate(Fields& fields, Step& step) {
  const auto at = fields.find("compensate");
  if (!at) return;
  const Site& site = fields.site();
  if (site.undoing) {
    site.draft.findings.error(at->key_at(), at->pointer(),
                              "a step inside `compensate` cannot have a `compensate` of its own");
  }
  const std::optional<Cursor> list = fields.list("compensate");
  if (!list) return;
  const Scope scope = site.scope.detached();
  Site undoing = site.with(scope);
  undoing.undoing = true;
  Json canonical;
  step.compensate = read_steps(undoing, *list, "compensate", canonical);
  fields.put("compensate", std::move(canonical));
}

Json read_step(const Site& outer, const Cursor& at, BlockIndex block, std::uint32_t position, std::string path) {
  Draft& draft = outer.draft;
  const auto index = static_cast<StepIndex>(draft.program.steps.size());
  draft.program.steps.emplace_back();
  draft.pointers.push_back(at.pointer());
  draft.program.blocks[block].steps.push_back(index);

  Step step;
  step.block = block;
  step.position = position;
  step.at = at.at();
  step.id = path;
  Json canonical;
  if (at.node().kind != Json::Kind::object) {
    draft.error(at, "a step is an object such as `set: {decision: approved}`, not " + describe(at.node()));
  } else if (const StepKind* kind = kind_of(draft, at)) {
    const Site site{draft, outer.scope, index, path, outer.undoing};
    Fields fields(site, at, step_table(*kind));
    step.id = read_id(fields, path);
    step.title = fields.text("title").value_or("");
    step.when = fields.condition("when");
    step.body = kind->read(fields);
    read_compensate(fields, step);
    if (const auto type = fields.find("type")) {
      if (type->node().scalar != Json(kind->name)) {
        draft.error(*type, "`type` says " + describe(type->node()) + ", but the step's keys make it `" +
                               std::string(kind->name) + "`; leave `type` out");
      }
    }
    fields.put("type", kind->name);
    canonical = fields.take();
  }
  step.path = std::move(path);
  draft.program.steps[index] = std::move(step);
  return canonical;
}

}  // namespace

std::span<const StepKind> step_kinds() {
  static const std::array<StepKind, std::variant_size_v<StepBody>> kinds = {
      set_kind,      reference_kind, task_kind,  call_kind, if_kind,     switch_kind,
      repeat_kind,   parallel_kind,  first_kind, wait_kind, signal_kind, subworkflow_kind,
      continue_kind, emit_kind,      try_kind,   undo_kind, fail_kind,   complete_kind};
  return kinds;
}

const StepKind* find_step_kind(std::string_view name) {
  for (const StepKind& kind : step_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::span<const Key> common_step_keys() { return common_keys; }

BlockIndex read_steps(const Site& site, const Cursor& list, std::string_view lane, Json& canonical) {
  Program& program = site.draft.program;
  const auto block = static_cast<BlockIndex>(program.blocks.size());
  program.blocks.push_back({{}, site.step, std::string(lane)});
  const std::string prefix = site.path.empty() ? std::string(lane) : site.path + "." + std::string(lane);
  const std::size_t count = list.node().items.size();
  Json::Array written;
  written.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    written.push_back(
        read_step(site, list.item(i), block, static_cast<std::uint32_t>(i), prefix + "[" + std::to_string(i) + "]"));
  }
  canonical = Json(std::move(written));
  return block;
}

}  // namespace cairn
