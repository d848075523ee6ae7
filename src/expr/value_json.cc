#include "expr/base64.h"
#include "expr/expression.h"

namespace cairn::expr {

namespace {

Fault not_json(std::string message) { return {"not_json", std::move(message), 0, 0}; }

Result<Json, Fault> text_to_json(const Value& value) {
  if (value.as_text().find('\0') != std::string_view::npos) {
    return not_json("text with U+0000 cannot be kept as JSON");
  }
  if (value.json()) return *value.json();
  return Json(value.as_text());
}

// A value may share the same part many times at no cost. JSON writes it out each time, in about 64 bytes each.
struct Allowance {
  std::uint64_t parts = Budget{}.bytes_max / 64;
};

Result<Json, Fault> convert(const Value& value, int depth, Allowance& left) {
  using Kind = Value::Kind;
  if (depth > 512) return not_json("nested too deep for JSON");
  if (left.parts == 0)
    return Fault{"cost_exceeded", "the value has more parts than the budget of an evaluation allows", 0, 0};
  --left.parts;
  switch (value.kind()) {
    case Kind::null: return Json();
    case Kind::boolean: return Json(value.as_bool());
    case Kind::integer: return Json(value.as_integer());
    case Kind::unsigned_integer:
      if (value.as_unsigned() <= 9223372036854775807u) return Json(static_cast<std::int64_t>(value.as_unsigned()));
      return not_json("the uint " + std::to_string(value.as_unsigned()) + " is beyond 64-bit integers of JSON");
    case Kind::number: {
      const double number = value.as_number();
      if (number != number || number - number != 0) return not_json("NaN and infinity do not exist in JSON");
      return Json(number);
    }
    case Kind::string: return text_to_json(value);
    case Kind::bytes: return Json(base64_encode(value.as_text()));
    case Kind::list: {
      if (value.json()) return *value.json();
      Json::Array items;
      items.reserve(value.size());
      for (std::size_t i = 0; i < value.size(); ++i) {
        CAIRN_TRY(Json item, convert(value.item(i), depth + 1, left));
        items.push_back(std::move(item));
      }
      return Json(std::move(items));
    }
    case Kind::map: {
      if (value.json()) return *value.json();
      Json::Members members;
      members.reserve(value.size());
      for (std::size_t i = 0; i < value.size(); ++i) {
        const Value key = value.key(i);
        if (!key.is(Kind::string)) {
          return not_json("the map has a key of type " + std::string(describe(key.kind())) + "; JSON keys are text");
        }
        CAIRN_TRY(const Json name, text_to_json(key));
        CAIRN_TRY(Json member, convert(value.value(i), depth + 1, left));
        members.emplace_back(name.as_text(), std::move(member));
      }
      return Json::object(std::move(members));
    }
    case Kind::timestamp: return Json(format_timestamp(value.as_timestamp()));
    case Kind::duration: return Json(format_duration(value.as_duration()));
    case Kind::decimal: return Json(value.as_opaque().text());
    case Kind::opaque: return Json(value.as_opaque().text());
    case Kind::type: return not_json("a type is not a JSON value");
    case Kind::optional:
      if (value.has_value()) return convert(value.optional_value(), depth + 1, left);
      return not_json("an absent optional is not a JSON value; give a default with .orValue(…)");
    case Kind::error: break;
  }
  return not_json("an error is not a JSON value");
}

}  // namespace

Result<Json, Fault> to_json(const Value& value) {
  Allowance left;
  return convert(value, 0, left);
}
Value from_json(const Json& value) { return Value::own(value); }

}  // namespace cairn::expr
