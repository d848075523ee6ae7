#include <algorithm>

#include "definition/definition.h"
#include "definition/source.h"
#include "scenario/scenario.h"
#include "scenario/scenario_shape.h"

namespace cairn {
namespace {

// Definitions inside a scenario file keep the order of their members.
void write_in_order(const SourceNode& node, std::string& out) {
  if (node.kind == Json::Kind::array) {
    out.push_back('[');
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      if (i > 0) out.push_back(',');
      write_in_order(node.items[i], out);
    }
    out.push_back(']');
  } else if (node.kind == Json::Kind::object) {
    out.push_back('{');
    for (std::size_t i = 0; i < node.members.size(); ++i) {
      if (i > 0) out.push_back(',');
      write_json_string(node.members[i].key, out);
      out.push_back(':');
      write_in_order(node.members[i].value, out);
    }
    out.push_back('}');
  } else {
    write_json(node.scalar, out);
  }
}

constexpr std::string_view event_kinds[] = {"answer",  "signal", "reply", "clock", "next_timer", "cancel",
                                            "suspend", "resume", "retry", "skip",  "edit",       "discard_signal"};

bool checks_something(const ScenarioStep& step) { return !step.expect.is_null() || !step.refused.is_null(); }

class ScenarioReader {
 public:
  ScenarioReader(const std::string& file, const ReadFile& read) : file_(file), read_(read) {}

  Result<std::vector<Scenario>> read(const SourceNode& root) {
    if (root.kind != Json::Kind::object) return wrong(root.at, "a scenario file holds names and values");
    Scenario shared;
    shared.file = file_;
    shared.begins_at = Timestamp{1'704'067'200, 0};  // 2024-01-01T00:00:00Z
    shared.known = std::make_shared<DefinitionIndex>();
    const SourceNode* list = root.find("scenarios");
    CAIRN_TRY_VOID(read_common(root, shared, list != nullptr));
    std::vector<Scenario> scenarios;
    if (!list) {
      scenarios.push_back(std::move(shared));
    } else if (list->items.empty()) {
      return wrong(list->at, "`scenarios` is a list of at least one scenario");
    } else {
      for (const SourceNode& node : list->items) {
        scenarios.push_back(shared);
        if (node.kind != Json::Kind::object) return wrong(node.at, "a scenario holds names and values");
        if (const SourceMember* inner = node.find_member("scenarios")) {
          return wrong(inner->key_at, "`scenarios` is not known here");
        }
        CAIRN_TRY_VOID(read_common(node, scenarios.back(), false));
      }
    }
    for (const Scenario& scenario : scenarios) {
      if (!scenario.program) return wrong({scenario.line, 1}, "`definition` is missing");
      if (scenario.steps.empty()) return wrong({scenario.line, 1}, "`steps` is missing: nothing would be tested");
      if (std::none_of(scenario.steps.begin(), scenario.steps.end(), checks_something)) {
        return wrong({scenario.line, 1}, "no step has `expect` or `refused`: nothing would be tested");
      }
    }
    return scenarios;
  }

 private:
  Error wrong(SourcePlace at, const std::string& what) const {
    return {ErrorCode::invalid, file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + what};
  }

  Result<void> expect_list(const SourceNode& node, const std::string& name) const {
    if (node.kind == Json::Kind::array) return {};
    return wrong(node.at, "`" + name + "` is a list");
  }
  Result<void> expect_object(const SourceNode& node, const std::string& name) const {
    if (node.kind == Json::Kind::object) return {};
    return wrong(node.at, "`" + name + "` holds names and values");
  }
  Result<void> accept(const std::optional<Misshapen>& found) const {
    if (found) return wrong(found->at, found->what);
    return {};
  }

  Result<std::shared_ptr<const Program>> load(const SourceNode& node) {
    std::string text;
    std::string name = file_;
    if (node.scalar.is_string()) {
      const std::string given(node.scalar.as_string());
      if (given.find('\n') != std::string::npos) {
        text = given;
      } else {
        auto found = read_(given);
        if (!found) return wrong(node.at, found.error().message);
        text = std::move(*found);
        name = given;
      }
    } else {
      text = with_head(node);
    }
    const Definition definition = load_definition(text, name);
    if (definition.valid()) return definition.program;
    std::string message = "the definition is invalid";
    for (const Diagnostic& diagnostic : definition.diagnostics) message += "\n  " + format_diagnostic(name, diagnostic);
    return wrong(node.at, message);
  }

  // A definition inside a scenario may omit its head, because scenarios test the steps.
  static std::string with_head(const SourceNode& node) {
    std::string text;
    write_in_order(node, text);
    std::string head;
    if (!node.find("cairn")) head += "\"cairn\":1,";
    if (!node.find("name")) head += "\"name\":\"scenario\",";
    if (!node.find("version")) head += "\"version\":\"1.0.0\",";
    if (node.kind == Json::Kind::object && !head.empty()) text.insert(1, head);
    return text;
  }

  Result<void> read_definitions(const SourceNode& node, Scenario& into) {
    const SourceNode* definition = node.find("definition");
    const SourceNode* with = node.find("with");
    if (!definition && !with) return {};
    auto known = std::make_shared<DefinitionIndex>(*into.known);
    if (with) {
      CAIRN_TRY_VOID(expect_list(*with, "with"));
      for (const SourceNode& one : with->items) {
        CAIRN_TRY(auto program, load(one));
        known->add(std::move(program));
      }
    }
    if (definition) {
      CAIRN_TRY(into.program, load(*definition));
      known->add(into.program);
    }
    into.known = std::move(known);
    return {};
  }

  Result<void> read_common(const SourceNode& node, Scenario& into, bool has_list) {
    into.line = node.at.line;
    CAIRN_TRY_VOID(read_definitions(node, into));
    for (const SourceMember& member : node.members) {
      const std::string& key = member.key;
      const SourceNode& value = member.value;
      if (key == "definition" || key == "with" || key == "scenarios") continue;
      if (key == "name") {
        into.name = value.scalar.is_string() ? std::string(value.scalar.as_string()) : write_json(value.to_json());
      } else if (key == "input") {
        into.input = value.to_json();
      } else if (key == "config") {
        CAIRN_TRY_VOID(expect_object(value, key));
        into.config = value.to_json();
      } else if (key == "reference") {
        CAIRN_TRY_VOID(accept(check_reference(value)));
        const Json reference = value.to_json();
        into.reference =
            Reference{reference["key"], reference["parts"].is_object() ? reference["parts"] : Json::object()};
      } else if (key == "at") {
        auto at = parse_timestamp(value.scalar.is_string() ? value.scalar.as_string() : "");
        if (!at) return wrong(value.at, at.error().message);
        into.begins_at = *at;
      } else if (key == "calls") {
        into.calls_fail = value.scalar == Json("fail");
        if (!into.calls_fail && value.scalar != Json("hold")) return wrong(value.at, "`calls` is hold or fail");
      } else if (key == "limits") {
        CAIRN_TRY_VOID(read_limits(value, into.limits));
      } else if (key == "replies") {
        CAIRN_TRY_VOID(expect_list(value, key));
        std::vector<CallReply> own;
        for (const SourceNode& one : value.items) {
          CAIRN_TRY(CallReply reply, read_reply(one));
          own.push_back(std::move(reply));
        }
        // A scenario's replies to a target replace the shared replies to it.
        std::erase_if(into.replies, [&](const CallReply& shared) {
          return std::any_of(own.begin(), own.end(),
                             [&](const CallReply& reply) { return reply.target == shared.target; });
        });
        into.replies.insert(into.replies.end(), own.begin(), own.end());
      } else if (key == "steps" && !has_list) {
        CAIRN_TRY_VOID(expect_list(value, key));
        for (const SourceNode& one : value.items) {
          CAIRN_TRY(ScenarioStep step, read_step(one));
          // Without an event, `refused` refers to the start. No instance exists then, so nothing can follow.
          const bool start_refused = step.kind.empty() && !step.refused.is_null();
          if (start_refused && !into.steps.empty()) {
            return wrong(one.at,
                         "`refused` needs an event; alone, in the first step, it means that the start is refused");
          }
          if (start_refused && (value.items.size() > 1 || !step.expect.is_null())) {
            return wrong(one.at, "nothing can follow a start that is refused");
          }
          into.steps.push_back(std::move(step));
        }
      } else {
        return wrong(member.key_at, "`" + key + "` is not known here");
      }
    }
    return {};
  }

  Result<void> read_limits(const SourceNode& node, Limits& into) {
    CAIRN_TRY_VOID(expect_object(node, "limits"));
    for (const SourceMember& member : node.members) {
      if (!member.value.scalar.is_integer() || member.value.scalar.as_integer() < 1) {
        return wrong(member.value.at, "a limit is a whole number, at least 1");
      }
      const std::int64_t value = member.value.scalar.as_integer();
      if (member.key == "steps_per_slice") {
        into.steps_per_slice_max = value;
      } else if (member.key == "strands") {
        into.strands_max = static_cast<std::size_t>(value);
      } else if (member.key == "state_bytes") {
        into.state_bytes_max = static_cast<std::size_t>(value);
      } else if (member.key == "buffered_signals") {
        into.buffered_signals_max = static_cast<std::size_t>(value);
      } else if (member.key == "expression_steps") {
        into.expression_steps_max = static_cast<std::uint64_t>(value);
      } else {
        return wrong(member.key_at, "there is no limit `" + member.key + "`");
      }
    }
    return {};
  }

  Result<CallReply> read_reply(const SourceNode& node) {
    CAIRN_TRY_VOID(accept(check_reply(node)));
    const Json value = node.to_json();
    CallReply reply;
    reply.target = value.text_or("to", "");
    reply.result = value["result"];
    if (const Json* error = value.find("error")) {
      Json full = *error;
      if (!full.find("class")) full.set("class", "transport");
      if (!full.find("message")) full.set("message", std::string(full.text_or("code", "failed")));
      CAIRN_TRY(reply.failure, failure_from_json(full));
    }
    return reply;
  }

  Result<ScenarioStep> read_step(const SourceNode& node) {
    ScenarioStep step;
    step.line = node.at.line;
    if (node.kind != Json::Kind::object || node.members.empty()) {
      return wrong(node.at, "a step is an event, an `expect`, or both");
    }
    for (const SourceMember& member : node.members) {
      if (member.key == "expect") {
        CAIRN_TRY_VOID(accept(check_expectation(member.value)));
        step.expect = member.value.to_json();
      } else if (member.key == "refused") {
        step.refused = member.value.to_json();
        if (step.refused != Json(true) && (!step.refused.is_string() || step.refused.as_string().empty())) {
          return wrong(member.value.at, "`refused` is true, or a part of the reason");
        }
      } else if (std::find(std::begin(event_kinds), std::end(event_kinds), member.key) == std::end(event_kinds)) {
        return wrong(member.key_at, "`" + member.key +
                                        "` is no event; events are answer, signal, reply, clock, "
                                        "next_timer, cancel, suspend, resume, retry, skip, edit and discard_signal");
      } else if (!step.kind.empty()) {
        return wrong(member.key_at, "one event at a time: this step has `" + step.kind + "` already");
      } else {
        CAIRN_TRY_VOID(accept(check_event(member.key, member.value)));
        step.kind = member.key;
        step.value = member.value.to_json();
      }
    }
    return step;
  }

  const std::string& file_;
  const ReadFile& read_;
};

}  // namespace

Result<std::vector<Scenario>> read_scenarios(std::string_view text, const std::string& file, const ReadFile& read) {
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read(text, Limits{}, findings);
  // Recoverable findings are errors here too, such as a duplicate key. Otherwise half of the file might not be tested.
  for (const Diagnostic& finding : findings) {
    if (finding.severity == Diagnostic::Severity::error) {
      return Error{ErrorCode::invalid, format_diagnostic(file, finding)};
    }
  }
  if (!document.usable()) return Error{ErrorCode::invalid, file + ": it cannot be read"};
  return ScenarioReader(file, read).read(document.root());
}

}  // namespace cairn
