#include "definition/document.h"
#include "definition/checks.h"
#include "definition/draft.h"
#include "definition/names.h"
#include "definition/schedules.h"
#include "definition/signal_rules.h"
#include "definition/step_kinds.h"
#include "definition/step_parts.h"
#include "definition/values.h"

namespace cairn {
namespace {

constexpr std::int64_t language_version = 1;

constexpr std::string_view error_policies[] = {"suspend", "fail", "compensate"};
constexpr std::string_view checkpoints[] = {"wait", "step"};

const Key document_keys[] = {
    {"cairn", Shape::integer, "Version of the definition language: 1.", true, std::nullopt, nullptr, {}, Range{1, 1}},
    {"name", Shape::workflow_name, "The workflow's name: small letters, digits, `_` and `-` in parts joined by dots.",
     true},
    {"version", Shape::version, "The definition's version, as in 1.0.0.", true},
    {"title", Shape::text, "What people see."},
    {"input", Shape::schema, "JSON Schema of the start payload; a bad payload is refused."},
    {"state_schema", Shape::schema, "JSON Schema of the business state; what would break it is an error."},
    {"signals", Shape::signals, "Rules for signals, by name: how long one is kept, and the schema of its payload.",
     false, std::nullopt, &signal_rule_table},
    {"reference", Shape::object, "The business reference: how people find the instance.", false, std::nullopt,
     &reference_table},
    {"state", Shape::object_value, "The initial business state.", false, Json::object()},
    {"managers", Shape::texts_value,
     "Task roles whose people manage the tasks of this workflow: they may also take a task from its assignee."},
    {"on_error", Shape::choice, "What an unhandled error does.", false, Json("suspend"), nullptr, error_policies},
    {"checkpoint", Shape::choice, "When progress is committed: at every wait, or after every step.", false,
     Json("wait"), nullptr, checkpoints},
    {"schedules", Shape::maybe_objects, "When instances start by themselves.", false, std::nullopt, &schedule_table},
    {"steps", Shape::some_steps, "What the workflow does.", true},
    {"output", Shape::value, "The instance's output, evaluated after the last step."},
    {"cel", Shape::derived, "Version of the expression language, written into the canonical form."},
    {"requires", Shape::derived, "What must exist for it to run, written into the canonical form."},
    {"functions", Shape::derived, "Functions that its expressions call, written into the canonical form."},
};

template <class Set>
Json texts(const Set& set) {
  Json::Array items;
  for (const auto& text : set) items.push_back(Json(text));
  return Json(std::move(items));
}

Json requirements_json(const Requirements& needs) {
  Json::Array subworkflows;
  for (const auto& [name, version] : needs.subworkflows) {
    Json entry = Json::object({{"name", name}});
    if (!version.empty()) entry.set("version", version);
    subworkflows.push_back(std::move(entry));
  }
  return Json::object({{"config", texts(needs.config)},
                       {"secrets", texts(needs.secrets)},
                       {"subworkflows", Json(std::move(subworkflows))},
                       {"transports", texts(needs.transports)},
                       {"workers", texts(needs.workers)}});
}

void gather_requirements(Draft& draft) {
  std::set<std::string> transports;
  std::set<std::string> workers;
  std::set<std::pair<std::string, std::string>> subworkflows;
  for (const Step& step : draft.program.steps) {
    if (const auto* call = std::get_if<CallStep>(&step.body)) {
      if (!call->transport.empty()) transports.insert(call->transport);
      if (call->transport == "worker") workers.insert(call->worker_type);
    } else if (const auto* child = std::get_if<SubworkflowStep>(&step.body)) {
      subworkflows.emplace(child->name, child->version.value_or(""));
    } else if (const auto* next = std::get_if<ContinueStep>(&step.body)) {
      subworkflows.emplace(next->name, next->version.value_or(""));
    }
  }
  Requirements& needs = draft.program.needs;
  needs.transports.assign(transports.begin(), transports.end());
  needs.workers.assign(workers.begin(), workers.end());
  needs.subworkflows.assign(subworkflows.begin(), subworkflows.end());
  needs.config.assign(draft.config.begin(), draft.config.end());
  needs.secrets.assign(draft.secrets.begin(), draft.secrets.end());
}

// cairn writes derived values itself. A source may contain them, because a canonical form is a source. They must agree
// with the rest of the document.
void write_derived(Fields& fields, std::string_view key, const Json& value) {
  Draft& draft = fields.site().draft;
  const auto at = fields.find(key);
  if (at && draft.document != nullptr && draft.findings.errors() == 0 && at->node().to_json() != value) {
    draft.error(
        *at, "`" + std::string(key) + "` is written by cairn and does not fit the rest of the document; leave it out");
  }
  fields.put(key, value);
}

void check_language(Fields& fields) {
  const auto at = fields.find("cairn");
  if (at && at->node().scalar != Json(language_version)) {
    fields.site().draft.error(*at,
                              "`cairn` is the version of the definition language, and this build knows only 1; "
                              "it is " +
                                  describe(at->node()) + " here");
  }
  if (at) fields.put("cairn", language_version);
  if (const auto cel = fields.find("cel"); cel && cel->node().scalar != Json(expr::language_version)) {
    fields.site().draft.error(*cel, "`cel` is the version of the expression language, and this build knows only 1");
  }
  fields.put("cel", expr::language_version);
}

void read_policies(Fields& fields, Program& program) {
  const std::string on_error = fields.choice("on_error").value_or("");
  if (on_error == "fail") program.on_error = OnError::fail;
  if (on_error == "compensate") program.on_error = OnError::compensate;
  if (fields.choice("checkpoint") == "step") program.checkpoint = Checkpoint::step;
}

// The members of an initial state with expressions are writes like those of `set`.
void add_initial_writes(Draft& draft, const Cursor& root) {
  const auto at = root.find("state");
  const auto& state = draft.program.state;
  const Template::Object* members = state ? state->members() : nullptr;
  if (!at || members == nullptr) return;
  for (const auto& [key, value] : *members) {
    const SourceMember* member = at->node().find_member(key);
    std::optional<StatePath> path = parse_state_path(key);
    if (member == nullptr || !path || path->names.size() > 1) continue;
    draft.state_writes.push_back({std::move(*path), type_of(value), member->key_at, at->pointer_to(key)});
  }
}

}  // namespace

const KeyTable document_table{"definition", document_keys};

Json read_document(Draft& draft, const SourceNode& root) {
  const Cursor at(root);
  if (root.kind != Json::Kind::object) {
    draft.error(at, "a definition is an object that begins with `cairn: 1`, not " + describe(root));
    return {};
  }
  Program& program = draft.program;
  if (const SourceNode* input = root.find("input")) draft.names.input = expr::Type::from_schema(input->to_json());

  if (const SourceMember* state = root.find_member("state_schema")) {
    draft.names.state = expr::Type::from_schema(state->value.to_json());
    draft.initial_state_at = state->key_at;
  }
  if (const SourceMember* state = root.find_member("state")) {
    draft.state_source = &state->value;
    draft.initial_state_at = state->key_at;
  }

  const Scope in_steps = Scope::steps(draft.names);
  const Scope at_reference = Scope::reference(draft.names);
  const Scope at_state = Scope::state(draft.names);
  const Site site{draft, in_steps, no_index, {}, false};
  Fields fields(site, at, document_table);
  check_language(fields);
  program.name = fields.text("name").value_or("");
  program.version = fields.text("version").value_or("");
  program.title = fields.text("title").value_or("");
  program.input = fields.schema("input");
  program.state_schema = fields.schema("state_schema");
  program.signals = read_signal_rules(fields);
  program.reference = read_reference(fields, "reference", at_reference);
  program.state = fields.value("state", at_state);
  add_initial_writes(draft, at);
  program.managers = fields.value("managers");
  read_policies(fields, program);
  program.schedules = read_schedules(fields);
  fields.steps("steps", "steps");
  if (program.blocks.empty()) program.blocks.emplace_back(Block{{}, no_index, "steps"});
  program.output = fields.value("output");
  program.item_names = draft.names.items;

  gather_requirements(draft);
  check_unreachable(draft);
  check_unread_results(draft);
  check_self_starts(draft);
  check_signal_rules(draft, root);
  check_four_eyes(draft);
  check_state_access(draft);
  write_derived(fields, "requires", requirements_json(program.needs));
  write_derived(fields, "functions", texts(draft.functions));
  return fields.take();
}

}  // namespace cairn
