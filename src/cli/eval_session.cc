#include "cli/eval_session.h"

#include <algorithm>

#include "base/utf8.h"
#include "cli/exit_code.h"

namespace cairn::cli {

Result<void> EvalSession::set_context(Json context) {
  if (!context.is_object())
    return Error{ErrorCode::invalid, "the context must be a JSON object; its members become names"};
  context_ = std::move(context);
  environment_.variables.clear();
  for (const Json::Member& member : context_.members())
    environment_.variables.push_back({member.key.str(), expr::Type::dyn()});
  return {};
}

std::string shown(const expr::Value& value) {
  if (const auto json = expr::to_json(value)) return write_json_pretty(*json);
  using Kind = expr::Value::Kind;
  switch (value.kind()) {
    case Kind::number: {
      const double number = value.as_number();
      return number != number ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
    }
    case Kind::unsigned_integer: return std::to_string(value.as_unsigned()) + "u";
    case Kind::type: return std::string(value.as_type());
    case Kind::optional:
      return value.has_value() ? "optional.of(" + shown(value.optional_value()) + ")" : "optional.none()";
    case Kind::list: {
      std::string out = "[";
      for (std::size_t i = 0; i < value.size(); ++i) out += (i > 0 ? ", " : "") + shown(value.item(i));
      return out + "]";
    }
    case Kind::map: {
      std::string out = "{";
      for (std::size_t i = 0; i < value.size(); ++i) {
        out += (i > 0 ? ", " : "") + shown(value.key(i)) + ": " + shown(value.value(i));
      }
      return out + "}";
    }
    case Kind::string: {
      std::string out;
      write_json_string(value.as_text(), out);
      return out;
    }
    default: return std::string(expr::describe(value.kind()));
  }
}

void print_fault(std::string_view text, const expr::Fault& fault, std::ostream& err) {
  const std::size_t offset = std::min(fault.offset, text.size());
  const LineColumn place = line_column_at(text, offset);
  err << place.line << ":" << place.column << ": error: " << fault.message << " [" << fault.code << "]\n";
  const std::size_t before = text.rfind('\n', offset == 0 ? 0 : offset - 1);
  const std::size_t begin = before == std::string_view::npos || offset == 0 ? 0 : before + 1;
  const std::size_t end = std::min(text.find('\n', offset), text.size());
  constexpr std::size_t line_max = 200;
  if (end - begin > line_max) return;
  const std::size_t width = count_code_points(text.substr(offset, std::min(fault.length, end - offset)));
  err << "  " << text.substr(begin, end - begin) << "\n  "
      << std::string(static_cast<std::size_t>(place.column) - 1, ' ')
      << std::string(std::max<std::size_t>(1, width), '^') << "\n";
}

Json json_of(std::string_view text, const expr::Fault& fault) {
  const LineColumn place = line_column_at(text, std::min(fault.offset, text.size()));
  return Json::object({{"code", fault.code},
                       {"message", fault.message},
                       {"line", place.line},
                       {"column", place.column},
                       {"offset", static_cast<std::int64_t>(fault.offset)},
                       {"length", static_cast<std::int64_t>(fault.length)}});
}

int EvalSession::evaluate(const std::string& text, bool as_json, std::ostream& out, std::ostream& err) const {
  const auto report = [&](const std::vector<expr::Fault>& faults) {
    if (as_json) {
      Json list = Json::array();
      for (const expr::Fault& fault : faults) list.push_back(json_of(text, fault));
      out << write_json_pretty(Json::object({{"errors", list}})) << "\n";
      return;
    }
    for (const expr::Fault& fault : faults) print_fault(text, fault, err);
  };
  const auto compiled = expr::compile(text, environment_);
  if (!compiled) {
    report(compiled.error());
    return exit_invalid;
  }
  std::vector<expr::Value> bindings;
  for (const Json::Member& member : context_.members()) bindings.push_back(expr::Value::borrow(member.value));
  const auto value = compiled->evaluate(bindings);
  if (!value) {
    report({value.error()});
    return exit_failed;
  }
  if (!as_json) {
    out << shown(*value) << "\n";
    return exit_done;
  }
  const auto json = expr::to_json(*value);
  if (!json) {
    report({json.error()});
    return exit_failed;
  }
  out << write_json_pretty(Json::object({{"value", *json}, {"type", std::string(expr::describe(value->kind()))}}))
      << "\n";
  return exit_done;
}

}  // namespace cairn::cli
