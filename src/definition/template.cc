#include "definition/template.h"

#include <algorithm>

#include "expr/secret_mark.h"

namespace cairn {
namespace {

expr::Fault wrong_kind(const expr::Expression& expression, const char* wanted, const expr::Value& found) {
  return {"no_such_overload",
          std::string("expected ") + wanted + ", but the expression gave " + std::string(expr::describe(found.kind())),
          0, expression.text().size()};
}

expr::Fault wrong_text(const expr::Expression& expression, const Error& error) {
  return {"invalid_argument", error.message, 0, expression.text().size()};
}

// Adds the text of the failed expression to the error. Inside a larger value the caller cannot tell which one it was.
Result<Json, expr::Fault> named(const Template& item, Result<Json, expr::Fault> value) {
  const expr::Expression* expression = value ? nullptr : item.single();
  if (expression) value.error().message = "`" + expression->text() + "`: " + value.error().message;
  return value;
}

}  // namespace

Template Template::literal(Json value) {
  Template made;
  made.held_ = std::move(value);
  return made;
}

Template Template::expression(expr::Expression value) {
  Template made;
  made.held_ = std::move(value);
  return made;
}

Template Template::list(List items) {
  if (std::all_of(items.begin(), items.end(), [](const Template& item) { return item.constant() != nullptr; })) {
    Json::Array values;
    values.reserve(items.size());
    for (const Template& item : items) values.push_back(*item.constant());
    return literal(Json(std::move(values)));
  }
  Template made;
  made.held_ = std::make_shared<const List>(std::move(items));
  return made;
}

Template Template::object(Object members) {
  if (std::all_of(members.begin(), members.end(),
                  [](const auto& member) { return member.second.constant() != nullptr; })) {
    Json::Members values;
    values.reserve(members.size());
    for (const auto& [key, value] : members) values.emplace_back(key, *value.constant());
    return literal(Json::object(std::move(values)));
  }
  // Sorted, so that evaluation appends members in the order of the object.
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Template made;
  made.held_ = std::make_shared<const Object>(std::move(members));
  return made;
}

const Json* Template::constant() const { return std::get_if<Json>(&held_); }

const expr::Expression* Template::single() const { return std::get_if<expr::Expression>(&held_); }

const Template::Object* Template::members() const {
  const auto* object = std::get_if<std::shared_ptr<const Object>>(&held_);
  return object != nullptr ? object->get() : nullptr;
}

Result<Json, expr::Fault> Template::evaluate(expr::Bindings bindings, const expr::Budget& budget) const {
  return evaluate(bindings, budget, false);
}

Result<Json, expr::Fault> Template::evaluate_sealed(expr::Bindings bindings, const expr::Budget& budget) const {
  return evaluate(bindings, budget, true);
}

Result<Json, expr::Fault> Template::evaluate(expr::Bindings bindings, const expr::Budget& budget, bool sealed) const {
  if (const Json* value = constant()) return sealed ? expr::seal(*value, {}) : *value;
  if (const expr::Expression* expression = single()) {
    auto value = expression->evaluate_json(bindings, budget);
    if (value && sealed) return expr::seal(*value, expression->secrets());
    return value;
  }
  if (const auto* list = std::get_if<std::shared_ptr<const List>>(&held_)) {
    Json::Array items;
    items.reserve((*list)->size());
    for (const Template& item : **list) {
      CAIRN_TRY(Json value, named(item, item.evaluate(bindings, budget, sealed)));
      items.push_back(std::move(value));
    }
    return Json(std::move(items));
  }
  const Object& object = **std::get_if<std::shared_ptr<const Object>>(&held_);
  Json::Members members;
  members.reserve(object.size());
  for (const auto& [key, item] : object) {
    CAIRN_TRY(Json value, named(item, item.evaluate(bindings, budget, sealed)));
    members.emplace_back(key, std::move(value));
  }
  return Json::object(std::move(members));
}

Result<Duration, expr::Fault> DurationTemplate::evaluate(expr::Bindings bindings, const expr::Budget& budget) const {
  if (literal) return *literal;
  CAIRN_TRY(const expr::Value value, expression.evaluate(bindings, budget));
  Duration duration;
  if (value.is(expr::Value::Kind::duration)) {
    duration = value.as_duration();
  } else if (value.is(expr::Value::Kind::string)) {
    // State stores durations as text, and a computed duration may be negative: `-PT5S`.
    const std::string_view text = value.as_text();
    const bool negative = text.size() > 1 && text.front() == '-' && text[1] != '-';
    Result<Duration> parsed = parse_duration(negative ? text.substr(1) : text);
    if (!parsed) return wrong_text(expression, parsed.error());
    if (!negative) duration = *parsed;
  } else {
    return wrong_kind(expression, "a duration", value);
  }
  return duration.negative() ? Duration() : duration;
}

Result<Timestamp, expr::Fault> TimeTemplate::evaluate(expr::Bindings bindings, const expr::Budget& budget) const {
  if (literal) return *literal;
  CAIRN_TRY(const expr::Value value, expression.evaluate(bindings, budget));
  if (value.is(expr::Value::Kind::timestamp)) return value.as_timestamp();
  if (!value.is(expr::Value::Kind::string)) return wrong_kind(expression, "a time", value);
  Result<Timestamp> parsed = parse_timestamp(value.as_text());
  if (!parsed) return wrong_text(expression, parsed.error());
  return *parsed;
}

}  // namespace cairn
