#include "expr/value_walk.h"

namespace cairn::expr {

namespace {

constexpr int walk_depth_max = 512;

bool walk(Context& context, const Value& value, int depth) {
  if (depth > walk_depth_max) {
    context.fail("limit", "the value is nested deeper than 512 levels");
    return false;
  }
  switch (value.kind()) {
    case Value::Kind::string:
    case Value::Kind::bytes: return context.spend_steps(1 + value.as_text().size() / 16);
    case Value::Kind::list:
      if (!context.spend_steps(1)) return false;
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (!walk(context, value.item(i), depth + 1)) return false;
      }
      return true;
    case Value::Kind::map:
      if (!context.spend_steps(1)) return false;
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (!walk(context, value.key(i), depth + 1) || !walk(context, value.value(i), depth + 1)) return false;
      }
      return true;
    case Value::Kind::optional: return !value.has_value() || walk(context, value.optional_value(), depth + 1);
    case Value::Kind::null:
    case Value::Kind::boolean:
    case Value::Kind::integer:
    case Value::Kind::unsigned_integer:
    case Value::Kind::number:
    case Value::Kind::timestamp:
    case Value::Kind::duration:
    case Value::Kind::type:
    case Value::Kind::decimal:
    case Value::Kind::opaque:
    case Value::Kind::error: break;
  }
  return context.spend_steps(1);
}

}  // namespace

bool spend_walk(Context& context, const Value& value) { return walk(context, value, 0); }

}  // namespace cairn::expr
