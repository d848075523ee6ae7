#include "definition/fields.h"

#include <algorithm>
#include <cmath>

#include "base/suggest.h"
#include "definition/names.h"
#include "definition/step_kinds.h"

namespace cairn {
namespace {

Expect expected(Shape shape) {
  switch (shape) {
    case Shape::text_value: return Expect::text;
    case Shape::texts_value: return Expect::texts;
    case Shape::list_value: return Expect::list;
    case Shape::object_value: return Expect::object;
    case Shape::integer_value: return Expect::integer;
    default: return Expect::anything;
  }
}

bool before(SourcePlace a, SourcePlace b) { return a.line != b.line ? a.line < b.line : a.column < b.column; }

// Writes 2 instead of 2.0.
Json shortest(double value) {
  const bool whole = std::trunc(value) == value && std::abs(value) < 1e15;
  return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

std::string in_words(double value) { return write_json(shortest(value)); }

// "`call`", or "a case of `switch`" for a list item.
std::string subject_of(const Cursor& at, const KeyTable& table) {
  if (!at.is_item()) return at.name();
  const bool vowel = std::string_view("aeiou").find(table.noun.front()) != std::string_view::npos;
  return std::string(vowel ? "an " : "a ") + std::string(table.noun) + " of " + at.name();
}

}  // namespace

std::string list_in_words(std::span<const std::string_view> names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += "`" + std::string(names[i]) + "`";
  }
  return out;
}

Fields::Fields(const Site& site, const Cursor& at, const KeyTable& table)
    : site_(site), at_(at), table_(table), subject_(subject_of(at, table)) {
  if (at.node().kind != Json::Kind::object) {
    std::vector<std::string_view> names;
    for (const Key& known : table.keys) {
      if (known.shape != Shape::derived) names.push_back(known.name);
    }
    site.draft.error(at, subject_ + " takes an object" +
                             (names.empty() ? " without keys, `{}`" : " with " + list_in_words(names)) + ", not " +
                             describe(at.node()));
    return;
  }
  check_keys(table);
}

void Fields::check_keys(const KeyTable& table) {
  Draft& draft = site_.draft;
  bool unknown = false;
  std::vector<std::string> meant;  // misspelled keys that are present
  for (const SourceMember& member : at_.node().members) {
    if (table.find(member.key) != nullptr) continue;
    if (std::find(table.elsewhere.begin(), table.elsewhere.end(), member.key) != table.elsewhere.end()) continue;
    std::vector<std::string_view> names;
    for (const Key& known : table.keys) {
      if (known.shape != Shape::derived) names.push_back(known.name);
    }
    std::string message = "unknown key `" + member.key + "`";
    if (const auto near = nearest_name(member.key, names)) {
      message += "; did you mean `" + *near + "`?";
      meant.push_back(*near);
    } else if (names.empty()) {
      message += "; " + subject_ + " has no keys";
    } else {
      message += "; " + subject_ + " takes " + list_in_words(names);
    }
    unknown = true;
    draft.findings.error(member.key_at, at_.pointer_to(member.key), std::move(message));
  }
  for (const Key& known : table.keys) {
    const bool misspelt = std::find(meant.begin(), meant.end(), known.name) != meant.end();
    if (known.required && !misspelt && at_.node().find_member(known.name) == nullptr) {
      draft.error_at_key(at_, subject_ + " needs `" + std::string(known.name) + "`");
    }
  }
  bool excluded = false;
  const SourceMember* first = nullptr;
  for (const SourceMember& member : at_.node().members) {
    if (std::find(table.one_of.begin(), table.one_of.end(), member.key) == table.one_of.end()) continue;
    if (first == nullptr) {
      first = &member;
      chosen_ = member.key;
      continue;
    }
    excluded = true;
    const bool swapped = before(member.key_at, first->key_at);
    const SourceMember& second = swapped ? *first : member;
    draft.findings.error(
        second.key_at, at_.pointer_to(second.key),
        "`" + (swapped ? member.key : first->key) + "` and `" + second.key + "` exclude each other; keep one of them");
  }
  for (const Need& need : table.needs) {
    const bool there = at_.node().find_member(need.key) != nullptr;
    if (excluded || !there || at_.node().find_member(need.needed) != nullptr) continue;
    draft.error_at_key(at_,
                       subject_ + " with `" + std::string(need.key) + "` needs `" + std::string(need.needed) + "`");
  }
  // An unknown key is probably a misspelling of the missing one.
  if (first == nullptr && !unknown && !table.one_of.empty()) {
    draft.error_at_key(at_, subject_ + " needs one of " + list_in_words(table.one_of));
  }
}

const Key& Fields::key(std::string_view name) const {
  const Key* found = table_.find(name);
  CAIRN_ASSERT(found != nullptr);
  return *found;
}

std::optional<Cursor> Fields::find(std::string_view name) const {
  key(name);
  return at_.node().kind == Json::Kind::object ? at_.find(name) : std::nullopt;
}

std::optional<Cursor> Fields::given(std::string_view name) {
  std::optional<Cursor> found = find(name);
  if (!found) {
    if (const auto& otherwise = key(name).otherwise) put(name, *otherwise);
  }
  return found;
}

std::optional<std::string> Fields::text(std::string_view name) {
  const auto value = given(name);
  if (!value) return std::nullopt;
  const SourceNode& node = value->node();
  const Shape shape = key(name).shape;
  const std::string quoted = "`" + std::string(name) + "`";
  if (node.kind != Json::Kind::string) {
    std::string message = quoted + " takes text, not " + describe(node);
    if (node.kind == Json::Kind::integer || node.kind == Json::Kind::number || node.kind == Json::Kind::boolean) {
      message += "; put it in quotes: \"" + write_json(node.scalar) + "\"";
    }
    site_.draft.error(*value, std::move(message));
    return std::nullopt;
  }
  const std::string_view text = node.scalar.as_string();
  if (text.starts_with('=')) {
    site_.draft.error(*value, quoted + " is plain text; an expression cannot stand here");
    return std::nullopt;
  }
  if (const auto fault = name_fault(shape, text, site_.draft.limits)) {
    site_.draft.error(*value, quoted + " " + *fault);
    return std::nullopt;
  }
  put(name, text);
  return std::string(text);
}

std::optional<std::string> Fields::choice(std::string_view name) {
  const Key& known = key(name);
  const auto value = given(name);
  if (!value) return known.otherwise ? std::optional(std::string(known.otherwise->as_string())) : std::nullopt;
  const SourceNode& node = value->node();
  if (node.kind == Json::Kind::string) {
    const std::string_view text = node.scalar.as_string();
    if (std::find(known.choices.begin(), known.choices.end(), text) != known.choices.end()) {
      put(name, text);
      return std::string(text);
    }
  }
  site_.draft.error(
      *value, "`" + std::string(name) + "` is one of " + list_in_words(known.choices) + ", not " + describe(node));
  return std::nullopt;
}

bool Fields::boolean(std::string_view name) {
  const Key& known = key(name);
  const auto value = given(name);
  if (!value) return known.otherwise && known.otherwise->as_bool();
  if (value->node().kind != Json::Kind::boolean) {
    site_.draft.error(*value, "`" + std::string(name) + "` is `true` or `false`, not " + describe(value->node()));
    return false;
  }
  put(name, value->node().scalar);
  return value->node().scalar.as_bool();
}

std::optional<std::int64_t> Fields::integer(std::string_view name) {
  const Key& known = key(name);
  const Range range = known.range.value_or(Range{-9e15, 9e15});
  const auto min = static_cast<std::int64_t>(range.min);
  const auto max = static_cast<std::int64_t>(range.max);
  const auto value = given(name);
  if (!value) return known.otherwise ? std::optional(known.otherwise->as_integer()) : std::nullopt;
  const SourceNode& node = value->node();
  if (node.kind != Json::Kind::integer || node.scalar.as_integer() < min || node.scalar.as_integer() > max) {
    site_.draft.error(*value, "`" + std::string(name) + "` takes a whole number from " + std::to_string(min) + " to " +
                                  std::to_string(max) + ", not " + describe(node));
    return std::nullopt;
  }
  put(name, node.scalar);
  return node.scalar.as_integer();
}

std::optional<double> Fields::number(std::string_view name) {
  const Key& known = key(name);
  const auto [min, max] = known.range.value_or(Range{-1e300, 1e300});
  const auto value = given(name);
  if (!value) return known.otherwise ? std::optional(known.otherwise->as_double()) : std::nullopt;
  const SourceNode& node = value->node();
  const bool numeric = node.kind == Json::Kind::integer || node.kind == Json::Kind::number;
  const double held = numeric ? node.scalar.as_double() : min - 1;
  if (!(held >= min && held <= max)) {
    site_.draft.error(*value, "`" + std::string(name) + "` takes a number from " + in_words(min) + " to " +
                                  in_words(max) + ", not " + describe(node));
    return std::nullopt;
  }
  // 2 and 2.0 have the same canonical form.
  put(name, shortest(held));
  return held;
}

std::optional<StatePath> Fields::path(std::string_view name) {
  const auto value = given(name);
  if (!value) return std::nullopt;
  const SourceNode& node = value->node();
  std::optional<StatePath> path;
  if (node.kind == Json::Kind::string) path = parse_state_path(node.scalar.as_string());
  if (!path) {
    site_.draft.error(*value, "`" + std::string(name) +
                                  "` is a path into state such as `review` or `score.value`, not " + describe(node));
    return std::nullopt;
  }
  put(name, node.scalar);
  return path;
}

std::vector<std::string> Fields::labels(std::string_view name) {
  std::vector<std::string> result;
  const auto at = list(name);
  if (!at) return result;
  Json::Array canonical;
  for (std::size_t i = 0; i < at->node().items.size(); ++i) {
    const SourceNode& node = at->node().items[i];
    const bool text = node.kind == Json::Kind::string;
    const auto fault = text ? name_fault(Shape::label, node.scalar.as_string(), site_.draft.limits) : std::nullopt;
    if (!text || fault || node.scalar.as_string().starts_with('=')) {
      site_.draft.error(at->item(i), "`" + std::string(name) + "` takes a list of names, not " + describe(node));
      return {};
    }
    result.emplace_back(node.scalar.as_string());
    canonical.push_back(node.scalar);
  }
  put(name, Json(std::move(canonical)));
  return result;
}

std::optional<Template> Fields::value(std::string_view name, bool secrets) { return value(name, site_.scope, secrets); }

std::optional<Template> Fields::value(std::string_view name, const Scope& scope, bool secrets) {
  const Key& known = key(name);
  const auto at = given(name);
  if (!at) return known.otherwise ? std::optional(Template::literal(*known.otherwise)) : std::nullopt;
  Json canonical;
  Template held = read_value(site_.with(scope), *at, expected(known.shape), secrets, canonical);
  put(name, std::move(canonical));
  return held;
}

std::optional<expr::Expression> Fields::condition(std::string_view name) { return condition(name, site_.scope); }

std::optional<expr::Expression> Fields::condition(std::string_view name, const Scope& scope) {
  const auto at = given(name);
  if (!at) return std::nullopt;
  Json canonical;
  expr::Expression expression = read_condition(site_.with(scope), *at, canonical);
  put(name, std::move(canonical));
  return expression;
}

std::vector<expr::Expression> Fields::conditions(std::string_view name, const Scope& scope) {
  std::vector<expr::Expression> result;
  const auto at = list(name);
  if (!at) return result;
  const Site inner = site_.with(scope);
  Json::Array canonical;
  for (std::size_t i = 0; i < at->node().items.size(); ++i) {
    Json spelled;
    result.push_back(read_condition(inner, at->item(i), spelled));
    canonical.push_back(std::move(spelled));
  }
  put(name, Json(std::move(canonical)));
  return result;
}

std::optional<DurationTemplate> Fields::duration(std::string_view name) {
  const Key& known = key(name);
  const auto at = given(name);
  if (!at) {
    if (!known.otherwise) return std::nullopt;
    DurationTemplate fallback;
    if (const auto parsed = parse_duration(known.otherwise->as_string())) fallback.literal = *parsed;
    return fallback;
  }
  Json canonical;
  DurationTemplate result = read_duration(site_, *at, canonical);
  put(name, std::move(canonical));
  return result;
}

std::optional<Duration> Fields::duration_literal(std::string_view name) {
  const Key& known = key(name);
  const auto at = given(name);
  if (!at) {
    if (!known.otherwise) return std::nullopt;
    const auto parsed = parse_duration(known.otherwise->as_string());
    return parsed ? std::optional(*parsed) : std::nullopt;
  }
  Json canonical;
  const std::optional<Duration> result = read_duration_literal(site_, *at, canonical);
  put(name, std::move(canonical));
  return result;
}

std::vector<DurationTemplate> Fields::durations(std::string_view name) {
  std::vector<DurationTemplate> result;
  const auto at = list(name);
  if (!at) return result;
  Json::Array canonical;
  for (std::size_t i = 0; i < at->node().items.size(); ++i) {
    Json spelled;
    result.push_back(read_duration(site_, at->item(i), spelled));
    canonical.push_back(std::move(spelled));
  }
  put(name, Json(std::move(canonical)));
  return result;
}

std::optional<TimeTemplate> Fields::time(std::string_view name) {
  const auto at = given(name);
  if (!at) return std::nullopt;
  Json canonical;
  TimeTemplate result = read_time(site_, *at, canonical);
  put(name, std::move(canonical));
  return result;
}

std::optional<DueTemplate> Fields::due(std::string_view name) {
  const auto at = given(name);
  if (!at) return std::nullopt;
  Json canonical;
  DueTemplate result = read_due(site_, *at, canonical);
  put(name, std::move(canonical));
  return result;
}

std::optional<schema::Schema> Fields::schema(std::string_view name) {
  const auto at = given(name);
  if (!at) return std::nullopt;
  const Json document = at->node().to_json();
  put(name, document);
  auto compiled = schema::Schema::compile(document);
  if (compiled) return std::move(compiled).value();
  for (const schema::SchemaFault& fault : compiled.error()) {
    site_.draft.findings.error(place_at_pointer(at->node(), fault.pointer), at->pointer() + fault.pointer,
                               "`" + std::string(name) + "` is no valid JSON Schema: " + fault.message);
  }
  return std::nullopt;
}

std::optional<Cursor> Fields::list(std::string_view name) {
  const Key& known = key(name);
  const auto at = given(name);
  if (!at) return std::nullopt;
  const SourceNode& node = at->node();
  if (node.kind != Json::Kind::array) {
    const char* of = "a list";
    switch (known.shape) {
      case Shape::steps:
      case Shape::some_steps: of = "a list of steps"; break;
      case Shape::conditions: of = "a list of conditions"; break;
      case Shape::durations: of = "a list of durations such as `[1d, 3d]`"; break;
      case Shape::statuses: of = "a list of HTTP status codes such as `[404]`"; break;
      case Shape::labels: of = "a list of names"; break;
      default: break;
    }
    std::string message = "`" + std::string(name) + "` takes " + of + ", not " + describe(node);
    if (node.kind == Json::Kind::object && (known.shape == Shape::steps || known.shape == Shape::some_steps)) {
      message += "; begin each step with `- `";
    }
    site_.draft.error(*at, std::move(message));
    return std::nullopt;
  }
  const bool some = known.shape == Shape::some_steps || known.shape == Shape::objects;
  if (some && node.items.empty()) {
    site_.draft.error(*at, "`" + std::string(name) + "` may not be empty");
  }
  return at;
}

BlockIndex Fields::steps(std::string_view name, std::string_view lane) { return steps(name, lane, site_.scope); }

BlockIndex Fields::steps(std::string_view name, std::string_view lane, const Scope& scope) {
  const auto at = list(name);
  if (!at) return no_index;
  Json canonical;
  const bool absent_when_empty = key(name).otherwise.has_value();
  if (absent_when_empty && at->node().items.empty()) {
    put(name, Json::array());
    return no_index;
  }
  const BlockIndex block = read_steps(site_.with(scope), *at, lane, canonical);
  put(name, std::move(canonical));
  return block;
}

}  // namespace cairn
