#include <cmath>

#include "base/time.h"
#include "cairn/flow_values.h"

namespace cairn::flow {
namespace {

Json expression(std::string_view text) { return Json::object({{"$expr", text}}); }

// Literal JSON in source form. Text that the language would read as an expression is escaped, so it stays literal.
Json spelled_literal(const Json& value) {
  if (value.is_string() && value.as_string().starts_with('=')) {
    std::string quoted;
    write_json_string(value.as_string(), quoted);
    return expression(quoted);
  }
  if (value.is_array()) {
    Json::Array items;
    items.reserve(value.size());
    for (const Json& item : value.items()) items.push_back(spelled_literal(item));
    return Json(std::move(items));
  }
  if (!value.is_object()) return value;
  if (value.find("$expr") != nullptr || value.find("$literal") != nullptr) return Json::object({{"$literal", value}});
  Json::Members members;
  members.reserve(value.size());
  for (const Json::Member& member : value.members()) members.emplace_back(member.key, spelled_literal(member.value));
  return Json::object(std::move(members));
}

}  // namespace

void Part::take_problem(const Part& from) {
  if (problem_.empty()) problem_ = from.problem_;
}

void Part::put(std::string_view key, const Part& value) {
  take_problem(value);
  source_.set(key, value.source_);
}

void Part::put_in(std::string_view key, std::string_view inner, const Part& value) {
  take_problem(value);
  source_.edit(key).set(inner, value.source_);
}

void Part::put_in(std::string_view key, std::string_view inner, Json value) {
  source_.edit(key).set(inner, std::move(value));
}

void Part::add(const Part& item) {
  take_problem(item);
  source_.push_back(item.source_);
}

void Part::add_in(std::string_view key, std::string_view inner, const Part& item) {
  take_problem(item);
  Json& list = inner.empty() ? source_.edit(key) : source_.edit(key).edit(inner);
  list.push_back(item.source_);
}

Cel::Cel(std::string_view text) : Part(expression(text)) {}

Document::Document(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed) {
    set_problem("json(…): " + parsed.error().message);
    return;
  }
  static_cast<Part&>(*this) = Document(std::move(parsed).value());
}

Value::Value(double value) : Part(std::isfinite(value) ? Json(value) : Json()) {
  if (!std::isfinite(value)) set_problem("infinity and NaN are no JSON numbers");
}

Value::Value(std::string_view text) : Part(spelled_literal(Json(text))) {}

Value::Value(const Document& literal) : Part(spelled_literal(literal.source())) { take_problem(literal); }

Value::Value(std::initializer_list<Member> members) : Part(Json::object()) {
  for (const Member& member : members) {
    if (source().find(member.key) != nullptr)
      set_problem("the key `" + std::string(member.key) + "` occurs twice in one object");
    put(member.key, member.value);
  }
}

Value list(std::initializer_list<Value> items) {
  Value value{Json(Json::array())};
  for (const Value& item : items) value.append(item);
  return value;
}

Value list(const std::vector<Value>& items) {
  Value value{Json(Json::array())};
  for (const Value& item : items) value.append(item);
  return value;
}

Value object(std::initializer_list<Member> members) { return Value(members); }

Length::Length(std::int64_t seconds, std::int64_t nanos)
    : Part(Json(format_duration(Duration{seconds, static_cast<std::int32_t>(nanos)}))) {}

Reference& Reference::key(const Value& value) {
  put("key", value);
  return *this;
}

Reference& Reference::parts(const Value& object) {
  put("parts", object);
  return *this;
}

}  // namespace cairn::flow
