#include "definition/signal_rules.h"

#include "base/suggest.h"
#include "definition/names.h"

namespace cairn {
namespace {

const Key signal_rule_keys[] = {
    {"ttl", Shape::duration_literal,
     "How long a signal is kept that no step has taken; then it becomes a dead letter. Without it: for ever."},
    {"schema", Shape::schema, "JSON Schema of the payload; a signal with another payload is refused."},
};

}  // namespace

const KeyTable signal_rule_table{"signal rule", signal_rule_keys};

std::map<std::string, SignalRule, std::less<>> read_signal_rules(Fields& document) {
  std::map<std::string, SignalRule, std::less<>> rules;
  const auto at = document.find("signals");
  if (!at) return rules;
  Draft& draft = document.site().draft;
  if (at->node().kind != Json::Kind::object) {
    draft.error(*at, "`signals` takes an object such as `{paid: {ttl: 7d}}`, not " + describe(at->node()));
    return rules;
  }
  Json written = Json::object();
  for (const SourceMember& member : at->node().members) {
    if (const auto fault = name_fault(Shape::signal_name, member.key, draft.limits)) {
      draft.findings.error(member.key_at, at->pointer_to(member.key), "a signal's name " + *fault);
    }
    const Cursor rule_at = at->member(member);
    Fields fields(document.site(), rule_at, signal_rule_table);
    SignalRule rule;
    rule.ttl = fields.duration_literal("ttl");
    if (rule.ttl && *rule.ttl <= Duration()) draft.error(*fields.find("ttl"), "`ttl` is longer than zero");
    rule.schema = fields.schema("schema");
    written.set(member.key, fields.take());
    rules.emplace(member.key, std::move(rule));
  }
  document.put("signals", std::move(written));
  return rules;
}

void check_signal_rules(Draft& draft, const SourceNode& root) {
  const SourceNode* rules = root.find("signals");
  if (rules == nullptr || draft.stored) return;
  const auto& names = draft.program.signal_names;
  const std::vector<std::string> candidates(names.begin(), names.end());
  for (const SourceMember& member : rules->members) {
    if (names.contains(member.key)) continue;
    std::string message = "no step waits for signal `" + std::string(member.key) + "`";
    if (const auto near = nearest_name(member.key, candidates)) message += "; did you mean `" + *near + "`?";
    draft.findings.warning(member.key_at, "/signals/" + std::string(member.key), std::move(message));
  }
}

}  // namespace cairn
