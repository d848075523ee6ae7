#include <set>

#include "base/suggest.h"
#include "definition/checks.h"
#include "definition/draft.h"
#include "definition/values.h"

namespace cairn {
namespace {

using Kind = expr::Type::Kind;

// The keys that the state has or may get. Empty if only the data can tell.
std::optional<std::set<std::string>> known_keys(const Draft& draft) {
  std::set<std::string> keys;
  if (draft.state_source != nullptr) {
    const SourceNode& node = *draft.state_source;
    if (node.kind != Json::Kind::object || is_expression(node)) return std::nullopt;
    const bool literal = node.members.size() == 1 && node.members.front().key == "$literal";
    for (const SourceMember& member : (literal ? node.members.front().value : node).members) keys.insert(member.key);
  }
  for (const Draft::StateWrite& write : draft.state_writes) keys.insert(write.path.names.front());
  for (const Draft::ResultUse& result : draft.results) keys.insert(result.path.names.front());
  const expr::Type& declared = draft.names.state;
  if (declared.is(Kind::map) && !declared.has_members()) return std::nullopt;
  if (declared.has_members()) {
    for (const expr::Type::Member& member : declared.members()) keys.insert(member.name);
  }
  return keys;
}

// A warning, because an operator may add keys to the state of an instance. A definition that tests a key with `has` or
// `.?` expects such a key.
void check_reads(Draft& draft) {
  const auto known = known_keys(draft);
  if (!known) return;
  const std::vector<std::string> candidates(known->begin(), known->end());
  std::set<std::string> tested;
  for (const Draft::StateRead& read : draft.state_reads) {
    if (!read.path.empty() && read.optional) tested.insert(read.path.front());
  }
  for (const Draft::StateRead& read : draft.state_reads) {
    if (read.path.empty() || read.optional || known->contains(read.path.front())) continue;
    const std::string& key = read.path.front();
    if (tested.contains(key)) continue;
    std::string message = "nothing writes `state." + key + "`";
    if (const auto near = nearest_name(key, candidates)) {
      message += "; did you mean `state." + *near + "`?";
    } else {
      message += ", so reading it is an error; `state.?" + key + "` gives an optional";
    }
    draft.findings.warning(read.at, read.pointer, std::move(message));
  }
}

// `set: {state.total: 1}` would write state.state.total, which is a mistake unless something reads that.
void check_prefix(Draft& draft, const StatePath& path, SourcePlace at, const std::string& pointer) {
  if (path.names.size() < 2 || path.names.front() != "state") return;
  for (const Draft::StateRead& read : draft.state_reads) {
    if (!read.path.empty() && read.path.front() == "state") return;
  }
  draft.findings.error(at, pointer,
                       "a path is relative to `state`: write `" + path.text.substr(path.text.find('.') + 1) +
                           "` instead of `" + path.text + "`");
}

// Values that become text in JSON (rule V4).
bool becomes_text(const expr::Type& type) {
  return type.is(Kind::string) || type.is(Kind::bytes) || type.is(Kind::timestamp) || type.is(Kind::duration) ||
         type.is(Kind::decimal);
}

bool fits(const expr::Type& declared, const expr::Type& given) {
  if (declared.is_dyn() || given.is_dyn()) return true;
  if (given.is(Kind::optional)) return fits(declared, given.parameter(0));
  if (declared.is_number()) return given.is_number();
  if (declared.is(Kind::string)) return becomes_text(given);
  if (declared.is(Kind::list)) return given.is(Kind::list) && fits(declared.parameter(0), given.parameter(0));
  return declared.kind() == given.kind();
}

// The declared type of the path. Empty after reporting a key that the schema does not have.
std::optional<expr::Type> declared_type(Draft& draft, const StatePath& path, SourcePlace at,
                                        const std::string& pointer) {
  expr::Type type = draft.names.state;
  for (const std::string& name : path.names) {
    if (!type.is(Kind::map)) return expr::Type::dyn();
    if (const expr::Type* member = type.find_member(name)) {
      type = expr::Type(*member);
      continue;
    }
    if (!type.has_members() || !type.closed()) return expr::Type::dyn();
    std::vector<std::string> candidates;
    for (const expr::Type::Member& member : type.members()) candidates.push_back(member.name);
    std::string message = "`state_schema` has no `" + name + "`";
    if (const auto near = nearest_name(name, candidates)) message += "; did you mean `" + *near + "`?";
    draft.findings.error(at, pointer, std::move(message));
    return std::nullopt;
  }
  return type;
}

// An initial state without expressions is the same at every start.
void check_initial_state(Draft& draft) {
  const auto& state = draft.program.state;
  static const Json empty = Json::object();
  const Json* initial = state ? state->constant() : draft.state_source == nullptr ? &empty : nullptr;
  if (!draft.program.state_schema || initial == nullptr || !initial->is_object()) return;
  static const SourceNode none;
  const SourceNode& source = draft.state_source != nullptr ? *draft.state_source : none;
  for (const schema::Violation& violation : draft.program.state_schema->check(*initial)) {
    SourcePlace at = draft.initial_state_at;
    std::string pointer = draft.state_source != nullptr ? "/state" : "/state_schema";
    for (const SourceMember& member : source.members) {
      const std::string own = "/" + escape_pointer(member.key);
      if (violation.pointer != own && !violation.pointer.starts_with(own + "/")) continue;
      at = member.key_at;
      pointer += own;
      break;
    }
    draft.findings.error(at, pointer, "the initial state breaks `state_schema`: " + schema::listed({violation}));
  }
}

}  // namespace

void check_state_access(Draft& draft) {
  // A stored definition passed the checks of the build that deployed it.
  if (draft.stored) return;
  check_initial_state(draft);
  for (const Draft::StateWrite& write : draft.state_writes) {
    check_prefix(draft, write.path, write.at, write.pointer);
    const auto declared = declared_type(draft, write.path, write.at, write.pointer);
    if (!declared || fits(*declared, write.type)) continue;
    const bool null = write.type.is(Kind::null);
    // The type of an expression that does not compile is null, and its own error says more.
    if (null && draft.expressions_broken) continue;
    draft.findings.error(write.at, write.pointer,
                         "`state_schema` says that `" + write.path.text + "` is " + declared->text() +
                             ", but this gives " + (null ? "null" : write.type.text()));
  }
  for (const Draft::ResultUse& result : draft.results) {
    check_prefix(draft, result.path, result.at, result.pointer);
    declared_type(draft, result.path, result.at, result.pointer);
  }
  // Errors may hide writes.
  if (!draft.expressions_broken && draft.findings.errors() == 0) check_reads(draft);
}

}  // namespace cairn
