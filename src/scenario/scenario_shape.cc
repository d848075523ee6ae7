#include "scenario/scenario_shape.h"

#include <algorithm>
#include <initializer_list>

#include "base/suggest.h"
#include "base/time.h"
#include "instance/failure.h"

namespace cairn {
namespace {

bool is_object(const SourceNode& node) { return node.kind == Json::Kind::object; }
bool is_text(const SourceNode& node) { return node.kind == Json::Kind::string; }
bool is_null(const SourceNode& node) { return node.kind == Json::Kind::null; }
bool is_filled_text(const SourceNode& node) { return is_text(node) && !node.scalar.as_string().empty(); }
bool is_nothing(const SourceNode& node) { return is_null(node) || (is_object(node) && node.members.empty()); }

std::optional<Misshapen> check_members(const SourceNode& node, const std::string& of,
                                       std::initializer_list<std::string_view> known) {
  if (!is_object(node)) {
    std::string names;
    for (const std::string_view name : known) names += (names.empty() ? "" : ", ") + std::string(name);
    return Misshapen{node.at, "`" + of + "` holds names and values: " + names};
  }
  for (const SourceMember& member : node.members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    std::string what = "`" + of + "` has no `" + member.key + "`";
    std::vector<std::string> names(known.begin(), known.end());
    if (const auto near = nearest_name(member.key, names)) what += "; did you mean `" + *near + "`?";
    return Misshapen{member.key_at, what};
  }
  return std::nullopt;
}

std::optional<Misshapen> check_text(const SourceNode& node, const std::string& of, std::string_view name,
                                    bool required) {
  const SourceNode* member = node.find(name);
  if (!member) {
    if (!required) return std::nullopt;
    return Misshapen{node.at, "`" + of + "` needs `" + std::string(name) + "`"};
  }
  if (is_filled_text(*member)) return std::nullopt;
  return Misshapen{member->at, "`" + std::string(name) + "` is a text"};
}

std::optional<Misshapen> check_answer(const SourceNode& value) {
  if (auto wrong = check_members(value, "answer", {"task", "by", "with"})) return wrong;
  if (auto wrong = check_text(value, "answer", "task", true)) return wrong;
  return check_text(value, "answer", "by", false);
}

std::optional<Misshapen> check_signal(const SourceNode& value) {
  if (is_filled_text(value)) return std::nullopt;
  if (auto wrong = check_members(value, "signal", {"name", "key", "payload", "ttl"})) return wrong;
  if (auto wrong = check_text(value, "signal", "name", true)) return wrong;
  if (const SourceNode* ttl = value.find("ttl"); ttl && !(is_text(*ttl) && parse_duration(ttl->scalar.as_string()))) {
    return Misshapen{ttl->at, "`ttl` is a duration such as 7d"};
  }
  if (const SourceNode* key = value.find("key"); key && is_null(*key)) return std::nullopt;
  return check_text(value, "signal", "key", false);
}

std::optional<Misshapen> check_clock(const SourceNode& value) {
  const std::string_view text = is_text(value) ? value.scalar.as_string() : std::string_view();
  const bool moves_on = text.starts_with('+') && parse_duration(text.substr(1)).has_value();
  if (moves_on || parse_timestamp(text).has_value()) return std::nullopt;
  return Misshapen{value.at, "`clock` is +DURATION or an RFC 3339 time: +2d, 2024-02-02T08:00:00Z"};
}

std::optional<Misshapen> check_nothing(const SourceNode& value, const std::string& of) {
  if (is_nothing(value)) return std::nullopt;
  return Misshapen{value.at, "`" + of + "` takes nothing: write `" + of + ": {}`"};
}

std::optional<Misshapen> check_reason(const SourceNode& value, const std::string& of) {
  if (is_text(value) || is_nothing(value)) return std::nullopt;
  return Misshapen{value.at, "`" + of + "` takes a reason, which is a text"};
}

}  // namespace

std::optional<Misshapen> check_reply(const SourceNode& value) {
  if (auto wrong = check_members(value, "reply", {"to", "result", "error"})) return wrong;
  if (auto wrong = check_text(value, "reply", "to", true)) return wrong;
  const SourceNode* error = value.find("error");
  if (!error) return std::nullopt;
  if (value.find("result")) return Misshapen{error->at, "a reply is a `result` or an `error`, not both"};
  if (auto wrong = check_members(*error, "error", {"class", "code", "message", "details"})) return wrong;
  if (auto wrong = check_text(*error, "error", "code", true)) return wrong;
  const SourceNode* of_class = error->find("class");
  if (!of_class || (is_text(*of_class) && failure_class_from(of_class->scalar.as_string()))) return std::nullopt;
  return Misshapen{of_class->at,
                   "`class` is definition, expression, transport, timeout, authorization, consistency or business"};
}

std::optional<Misshapen> check_event(const std::string& kind, const SourceNode& value) {
  if (kind == "answer") return check_answer(value);
  if (kind == "signal") return check_signal(value);
  if (kind == "reply") return check_reply(value);
  if (kind == "clock") return check_clock(value);
  if (kind == "cancel" || kind == "suspend") return check_reason(value, kind);
  if (kind == "skip") return is_null(value) ? std::nullopt : check_members(value, "skip", {"result"});
  if (kind == "discard_signal") {
    return is_filled_text(value) ? std::nullopt
                                 : std::optional(Misshapen{value.at, "`discard_signal` takes a signal's name"});
  }
  if (kind == "edit") {
    return is_object(value) ? std::nullopt : std::optional(Misshapen{value.at, "`edit` takes an object: a patch"});
  }
  return check_nothing(value, kind);
}

std::optional<Misshapen> check_reference(const SourceNode& value) {
  if (auto wrong = check_members(value, "reference", {"key", "parts"})) return wrong;
  if (const SourceNode* key = value.find("key"); key && !is_text(*key) && !is_null(*key)) {
    return Misshapen{key->at, "`key` is a text"};
  }
  if (const SourceNode* parts = value.find("parts"); parts && !is_object(*parts)) {
    return Misshapen{parts->at, "`parts` holds names and values"};
  }
  return std::nullopt;
}

std::optional<Misshapen> check_expectation(const SourceNode& value) {
  if (is_nothing(value)) return Misshapen{value.at, "`expect` is empty: it could never fail"};
  // The state and the reference always exist, and other members than the expected ones are accepted.
  for (const std::string_view name : {"state", "reference"}) {
    const SourceNode* member = value.find(name);
    if (!member || !is_object(*member)) continue;
    const SourceNode* parts = name == "reference" && member->members.size() == 1 ? member->find("parts") : nullptr;
    if (!member->members.empty() && !(parts && is_object(*parts) && parts->members.empty())) continue;
    return Misshapen{member->at, "`" + std::string(name) + "` is empty: it could never fail" +
                                     (name == "state" ? "; `state_is: {}` expects an empty state" : "")};
  }
  if (const SourceNode* reference = value.find("reference"); reference && is_object(*reference)) {
    if (auto wrong = check_reference(*reference)) return wrong;
  }
  return check_members(value, "expect",
                       {"status", "state", "state_is", "output", "error", "reference", "waits", "now", "tasks",
                        "closed_tasks", "events", "calls", "continued", "signals"});
}

}  // namespace cairn
