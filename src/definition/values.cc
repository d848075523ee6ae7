#include "definition/values.h"

#include <algorithm>

#include "base/duration_max.h"
#include "definition/template.h"

namespace cairn {
namespace {

using Kind = expr::Type::Kind;

// The text node that holds the expression, and the offset of its text there.
struct ExpressionText {
  Cursor at;
  std::size_t begin;
};

ExpressionText expression_text(const Cursor& at) {
  if (at.node().kind == Json::Kind::object) return {at.member(at.node().members.front()), 0};
  return {at, 1};
}

Json expression_json(const expr::Expression& expression) { return Json::object({{"$expr", expression.text()}}); }

expr::Expression read_expression(const Site& site, const Cursor& at, bool secrets, Json& canonical) {
  const ExpressionText text = expression_text(at);
  expr::Expression expression = site.draft.compile(text.at, text.begin, site.scope, secrets);
  if (expression) canonical = expression_json(expression);
  return expression;
}

const char* words(Expect expect) {
  switch (expect) {
    case Expect::anything: return "a value";
    case Expect::text: return "text";
    case Expect::texts: return "a list of text";
    case Expect::list: return "a list";
    case Expect::object: return "an object";
    case Expect::integer: return "a whole number";
  }
  return "a value";
}

bool fits(Expect expect, const expr::Type& type) {
  if (type.is_dyn()) return true;
  switch (expect) {
    case Expect::anything: return true;
    case Expect::text: return type.is(Kind::string);
    case Expect::texts: return type.is(Kind::list) && fits(Expect::text, type.parameter(0));
    case Expect::list: return type.is(Kind::list);
    case Expect::object: return type.is(Kind::map);
    case Expect::integer: return type.is(Kind::integer) || type.is(Kind::unsigned_integer) || type.is(Kind::numeric);
  }
  return true;
}

void check_literal(const Site& site, const Cursor& at, Expect expect) {
  const SourceNode& node = at.node();
  bool right = true;
  switch (expect) {
    case Expect::anything: break;
    case Expect::text: right = node.kind == Json::Kind::string; break;
    case Expect::list:
    case Expect::texts: right = node.kind == Json::Kind::array; break;
    case Expect::object: right = node.kind == Json::Kind::object; break;
    case Expect::integer: right = node.kind == Json::Kind::integer; break;
  }
  if (!right) {
    std::string message = at.name() + " takes " + words(expect) + ", not " + describe(node);
    if (expect == Expect::texts && node.kind == Json::Kind::string) {
      message += "; write `[" + std::string(node.scalar.as_string()) + "]`";
    }
    site.draft.error(at, std::move(message));
  }
}

// Escapes literal text that begins with `=` and literal objects that look like expressions. They stay literals when the
// canonical form is read again.
Json canonical_literal(const Json& value) {
  if (value.is_string() && value.as_string().starts_with('=')) {
    std::string quoted;
    write_json_string(value.as_string(), quoted);
    return Json::object({{"$expr", quoted}});
  }
  if (value.is_array()) {
    Json::Array items;
    items.reserve(value.size());
    for (const Json& item : value.items()) items.push_back(canonical_literal(item));
    return Json(std::move(items));
  }
  if (value.is_object()) {
    if (value.find("$expr") != nullptr || value.find("$literal") != nullptr) return Json::object({{"$literal", value}});
    Json::Members members;
    members.reserve(value.size());
    for (const Json::Member& member : value.members())
      members.emplace_back(member.key, canonical_literal(member.value));
    return Json::object(std::move(members));
  }
  return value;
}

bool holds_expression(const SourceNode& node) {
  if (is_expression(node)) return true;
  for (const SourceNode& item : node.items) {
    if (holds_expression(item)) return true;
  }
  for (const SourceMember& member : node.members) {
    if (holds_expression(member.value)) return true;
  }
  return false;
}

// Whether text begins with a name that holds data, and would be an expression if it began with `=`. Names of items and
// events are left out: `order.paid` is usual text.
bool looks_like_expression(const Site& site, std::string_view text) {
  constexpr std::string_view beginnings[] = {"state.", "input.", "ref.", "config.", "completion."};
  const bool named = std::any_of(std::begin(beginnings), std::end(beginnings),
                                 [&](std::string_view beginning) { return text.starts_with(beginning); });
  return named && !site.draft.stored && expr::compile(text, site.scope.environment(false)).has_value();
}

Template read_object(const Site& site, const Cursor& at, bool secrets, Json& canonical) {
  const SourceNode& node = at.node();
  if (node.members.size() == 1 && node.members.front().key == "$literal") {
    const Json literal = node.members.front().value.to_json();
    canonical = canonical_literal(literal);
    return Template::literal(literal);
  }
  for (const char* reserved : {"$expr", "$literal"}) {
    const SourceMember* member = node.find_member(reserved);
    if (member == nullptr) continue;
    if (holds_expression(node)) {
      site.draft.findings.error(member->key_at, at.pointer_to(member->key),
                                "an object with the key `" + member->key +
                                    "` is taken as it stands and cannot hold expressions; make the whole object one "
                                    "expression instead");
      return {};
    }
    const Json literal = node.to_json();
    canonical = canonical_literal(literal);
    return Template::literal(literal);
  }
  Template::Object members;
  Json::Members written;
  members.reserve(node.members.size());
  written.reserve(node.members.size());
  for (const SourceMember& member : node.members) {
    Json spelled;
    members.emplace_back(member.key, read_value(site, at.member(member), Expect::anything, secrets, spelled));
    written.emplace_back(member.key, std::move(spelled));
  }
  canonical = Json::object(std::move(written));
  return Template::object(std::move(members));
}

}  // namespace

expr::Type type_of(const Template& value) {
  if (const expr::Expression* single = value.single()) return *single ? single->type() : expr::Type::dyn();
  const Json* constant = value.constant();
  if (constant == nullptr) return expr::Type::dyn();
  switch (constant->kind()) {
    case Json::Kind::null: return expr::Type::null();
    case Json::Kind::boolean: return expr::Type::boolean();
    case Json::Kind::integer: return expr::Type::integer();
    case Json::Kind::number: return expr::Type::number();
    case Json::Kind::string: return expr::Type::string();
    case Json::Kind::array: return expr::Type::list(expr::Type::dyn());
    case Json::Kind::object: return expr::Type::map(expr::Type::string(), expr::Type::dyn());
  }
  return expr::Type::dyn();
}

bool is_expression(const SourceNode& node) {
  if (node.kind == Json::Kind::string) return node.scalar.as_string().starts_with('=');
  return node.kind == Json::Kind::object && node.members.size() == 1 && node.members.front().key == "$expr" &&
         node.members.front().value.kind == Json::Kind::string;
}

Template read_value(const Site& site, const Cursor& at, Expect expect, bool secrets, Json& canonical) {
  const SourceNode& node = at.node();
  if (is_expression(node)) {
    expr::Expression expression = read_expression(site, at, secrets, canonical);
    if (!expression) return {};
    if (!fits(expect, expression.type())) {
      site.draft.error(at, at.name() + " takes " + words(expect) + ", but this gives " + expression.type().text());
    }
    if (expression.type().is(Kind::optional) && !site.draft.stored) {
      site.draft.warning(at, "this gives an optional, and an absent one is an error here; add `.orValue(…)`");
    }
    return Template::expression(std::move(expression));
  }
  check_literal(site, at, expect);
  if (node.kind == Json::Kind::array) {
    Template::List items;
    Json::Array written;
    items.reserve(node.items.size());
    written.reserve(node.items.size());
    const Expect each = expect == Expect::texts ? Expect::text : Expect::anything;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      Json spelled;
      items.push_back(read_value(site, at.item(i), each, secrets, spelled));
      written.push_back(std::move(spelled));
    }
    canonical = Json(std::move(written));
    return Template::list(std::move(items));
  }
  if (node.kind == Json::Kind::object) return read_object(site, at, secrets, canonical);
  if (node.kind == Json::Kind::string && looks_like_expression(site, node.scalar.as_string())) {
    const std::string text(node.scalar.as_string());
    site.draft.warning(at, "this is the text `" + text + "`; write `= " + text + "` for the value");
  }
  canonical = node.scalar;
  return Template::literal(node.scalar);
}

expr::Expression read_condition(const Site& site, const Cursor& at, Json& canonical) {
  const SourceNode& node = at.node();
  expr::Expression expression;
  if (node.kind == Json::Kind::boolean) {
    auto compiled = expr::compile(node.scalar.as_bool() ? "true" : "false", site.scope.environment(false));
    if (compiled) expression = std::move(compiled).value();
    if (expression) canonical = expression_json(expression);
  } else if (is_expression(node)) {
    expression = read_expression(site, at, false, canonical);
  } else if (node.kind == Json::Kind::string && node.scalar.as_string().empty()) {
    site.draft.error(at, "a condition is missing here");
  } else if (node.kind == Json::Kind::string) {
    expression = site.draft.compile(at, 0, site.scope, false);
    if (expression) canonical = expression_json(expression);
  } else {
    site.draft.error(at, at.name() + " takes a condition such as `state.amount > 100`, not " + describe(node));
  }
  if (!expression) return expression;

  const std::optional<Json> constant = expression.constant();
  const expr::Type type = expression.type();
  const bool boolean = constant ? constant->is_bool() : type.is_dyn() || type.is(Kind::boolean);
  if (!boolean) {
    site.draft.error(at, at.name() + " takes a condition that is true or false, but this gives " + type.text());
  } else if (constant) {
    site.draft.warning(at, std::string("this condition is always ") + (constant->as_bool() ? "true" : "false"));
  }
  return expression;
}

std::optional<Duration> read_duration_literal(const Site& site, const Cursor& at, Json& canonical) {
  const SourceNode& node = at.node();
  if (node.kind != Json::Kind::string) {
    std::string message = at.name() + " takes a duration such as `10s`, `1h30m` or `PT10S`, not " + describe(node);
    if (node.kind == Json::Kind::integer) message += "; add the unit, as in `" + write_json(node.scalar) + "s`";
    site.draft.error(at, std::move(message));
    return std::nullopt;
  }
  if (is_expression(node)) {
    site.draft.error(at, at.name() + " takes a written duration such as `10s`; an expression cannot stand here");
    return std::nullopt;
  }
  Result<Duration> parsed = parse_duration(node.scalar.as_string());
  if (!parsed) {
    site.draft.error(at, parsed.error().message);
    return std::nullopt;
  }
  canonical = format_duration(*parsed);
  // A stored definition is not rejected for a limit.
  if (*parsed > duration_max && !site.draft.stored) {
    site.draft.error(at, at.name() + " is at most " + duration_max_text);
    return std::nullopt;
  }
  return *parsed;
}

DurationTemplate read_duration(const Site& site, const Cursor& at, Json& canonical) {
  DurationTemplate result;
  if (!is_expression(at.node())) {
    result.literal = read_duration_literal(site, at, canonical);
    return result;
  }
  result.expression = read_expression(site, at, false, canonical);
  if (!result.expression) return result;
  const expr::Type type = result.expression.type();
  if (!type.is_dyn() && !type.is(Kind::duration) && !type.is(Kind::string)) {
    site.draft.error(at,
                     at.name() + " takes a duration, but this gives " + type.text() + "; duration(\"10s\") makes one");
  }
  return result;
}

TimeTemplate read_time(const Site& site, const Cursor& at, Json& canonical) {
  TimeTemplate result;
  const SourceNode& node = at.node();
  if (!is_expression(node)) {
    if (node.kind != Json::Kind::string) {
      site.draft.error(
          at, at.name() + " takes a time such as `2026-01-31T08:00:00Z` or an expression, not " + describe(node));
      return result;
    }
    Result<Timestamp> parsed = parse_timestamp(node.scalar.as_string());
    if (!parsed) {
      site.draft.error(at, parsed.error().message);
      return result;
    }
    result.literal = *parsed;
    canonical = format_timestamp(*parsed);
    return result;
  }
  result.expression = read_expression(site, at, false, canonical);
  if (!result.expression) return result;
  const expr::Type type = result.expression.type();
  if (!type.is_dyn() && !type.is(Kind::timestamp) && !type.is(Kind::string)) {
    site.draft.error(at, at.name() + " takes a time, but this gives " + type.text());
  }
  return result;
}

DueTemplate read_due(const Site& site, const Cursor& at, Json& canonical) {
  DueTemplate result;
  const SourceNode& node = at.node();
  if (is_expression(node)) {
    expr::Expression expression = read_expression(site, at, false, canonical);
    if (!expression) return result;
    const expr::Type type = expression.type();
    if (!type.is_dyn() && !type.is(Kind::timestamp) && !type.is(Kind::duration) && !type.is(Kind::string)) {
      site.draft.error(at, at.name() + " takes a duration or a time, but this gives " + type.text());
    }
    result.either = std::move(expression);
    return result;
  }
  // A time begins with the four digits of its year; no duration does.
  const bool time =
      node.kind == Json::Kind::string && node.scalar.as_string().size() > 4 && node.scalar.as_string()[4] == '-';
  if (time) {
    result.at = read_time(site, at, canonical);
  } else {
    result.after = read_duration(site, at, canonical);
  }
  return result;
}

}  // namespace cairn
