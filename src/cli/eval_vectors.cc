#include "cli/eval_vectors.h"

#include <charconv>
#include <map>

#include "base/limits.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "expr/base64.h"
#include "expr/decimal_value.h"
#include "expr/duration_text.h"
#include "expr/number_text.h"
#include "expr/options.h"

namespace cairn::cli {
namespace {

using expr::Value;

// Vectors contain U+0000 in expressions and values.
constexpr JsonLimits vector_limits{.nul_allowed = true};

Result<Value> read_typed(const Json& typed) {
  const Error wrong{ErrorCode::invalid, "not a typed value: " + write_json(typed).substr(0, 80)};
  if (!typed.is_object() || typed.size() != 1) return wrong;
  const std::string_view kind = typed.members()[0].key.view();
  const Json& held = typed.members()[0].value;
  if (kind == "null") return Value();
  if (kind == "bool" && held.is_bool()) return Value::boolean(held.as_bool());
  if (kind == "list" && held.is_array()) {
    Value::List items;
    for (const Json& item : held.items()) {
      CAIRN_TRY(Value value, read_typed(item));
      items.push_back(std::move(value));
    }
    return Value::list(std::move(items));
  }
  if (kind == "map" && held.is_array()) {
    Value::Entries entries;
    for (const Json& pair : held.items()) {
      if (!pair.is_array() || pair.size() != 2) return wrong;
      CAIRN_TRY(Value key, read_typed(pair.items()[0]));
      CAIRN_TRY(Value value, read_typed(pair.items()[1]));
      if (!expr::is_key(key)) return wrong;
      entries.push_back({std::move(key), std::move(value)});
    }
    return Value::map(std::move(entries));
  }
  if (kind == "optional") {
    if (held.is_null()) return Value::none();
    CAIRN_TRY(Value value, read_typed(held));
    return Value::some(std::move(value));
  }
  if (!held.is_string()) return wrong;
  const std::string_view text = held.as_string();
  if (kind == "string") return Value::text(text);
  if (kind == "int") {
    if (const auto value = expr::parse_integer(text)) return Value::integer(*value);
  } else if (kind == "uint") {
    if (const auto value = expr::parse_unsigned(text)) return Value::unsigned_integer(*value);
  } else if (kind == "double") {
    if (const auto value = expr::parse_number(text)) return Value::number(*value);
  } else if (kind == "bytes") {
    if (const auto value = expr::base64_decode(text)) return Value::bytes(*value);
  } else if (kind == "timestamp") {
    CAIRN_TRY(const Timestamp value, parse_timestamp(text));
    return Value::timestamp(value);
  } else if (kind == "duration") {
    CAIRN_TRY(const Duration value, expr::read_duration(text));
    return Value::duration(value);
  } else if (kind == "decimal") {
    CAIRN_TRY(expr::Decimal value, expr::Decimal::parse(text));
    return expr::decimal_value(std::move(value));
  } else if (kind == "type") {
    const auto compiled = expr::compile(text, {});
    if (compiled) {
      auto value = compiled->evaluate({});
      if (value && value->is(Value::Kind::type)) return std::move(*value);
    }
  }
  return wrong;
}

Json typed_text(std::string_view kind, std::string text) { return Json::object({{kind, Json(text)}}); }

// Counts down `left`, because a value may contain the same part very often; at 0 the result is cut off.
Json write_typed(const Value& value, std::size_t& left) {
  using Kind = Value::Kind;
  if (left == 0) return Json();
  --left;
  switch (value.kind()) {
    case Kind::null: return Json::object({{"null", Json()}});
    case Kind::boolean: return Json::object({{"bool", value.as_bool()}});
    case Kind::integer: return typed_text("int", std::to_string(value.as_integer()));
    case Kind::unsigned_integer: return typed_text("uint", std::to_string(value.as_unsigned()));
    case Kind::number: return typed_text("double", expr::format_number(value.as_number()));
    case Kind::string: return typed_text("string", std::string(value.as_text()));
    case Kind::bytes: return typed_text("bytes", expr::base64_encode(value.as_text()));
    case Kind::timestamp: return typed_text("timestamp", format_timestamp(value.as_timestamp()));
    case Kind::duration: return typed_text("duration", expr::format_seconds(value.as_duration()));
    case Kind::type: return typed_text("type", std::string(value.as_type()));
    case Kind::decimal: return typed_text("decimal", value.as_opaque().text());
    case Kind::opaque: return typed_text(value.as_opaque().type_name(), value.as_opaque().text());
    case Kind::list: {
      Json items = Json::array();
      for (std::size_t i = 0; i < value.size() && left > 0; ++i) items.push_back(write_typed(value.item(i), left));
      return Json::object({{"list", items}});
    }
    case Kind::map: {
      Json items = Json::array();
      for (std::size_t i = 0; i < value.size() && left > 0; ++i) {
        items.push_back(Json::array({write_typed(value.key(i), left), write_typed(value.value(i), left)}));
      }
      return Json::object({{"map", items}});
    }
    case Kind::optional:
      return Json::object({{"optional", value.has_value() ? write_typed(value.optional_value(), left) : Json()}});
    case Kind::error: break;
  }
  return Json();
}

std::vector<expr::Function> declared_functions(const Json& list) {
  std::vector<expr::Function> functions;
  if (!list.is_array()) return functions;
  for (const Json& one : list.items()) {
    expr::Function function{std::string(one.text_or("name", "")), {}};
    const Json& overloads = one["overloads"];
    if (!overloads.is_array()) continue;
    for (const Json& overload : overloads.items()) {
      expr::Signature signature;
      signature.name = function.name;
      signature.member = overload["receiver"].is_bool() && overload["receiver"].as_bool();
      std::vector<std::string> parameters;
      const auto read = [&](const Json& text) {
        return text.is_string() ? expr::Type::parse(text.as_string(), parameters).value_or(expr::Type::dyn())
                                : expr::Type::dyn();
      };
      if (overload["params"].is_array()) {
        for (const Json& parameter : overload["params"].items()) {
          signature.parameters.push_back(read(parameter));
          signature.accepts.push_back(0);
        }
      }
      signature.result = read(overload["result"]);
      signature.variable_count = static_cast<std::uint32_t>(parameters.size());
      function.signatures.push_back(std::move(signature));
    }
    functions.push_back(std::move(function));
  }
  return functions;
}

bool is_set(const Json& vector, std::string_view name) { return vector[name].is_bool() && vector[name].as_bool(); }

Json failed(const std::string& id, const expr::Fault& fault, std::string_view phase) {
  return Json::object(
      {{"id", id}, {"error", fault.code + ": " + fault.message}, {"code", fault.code}, {"phase", phase}});
}

// The same comparison as in score.py: same kind and value; NaN equals NaN, maps in any order.
bool same_typed(const Json& wanted, const Json& got) {
  const auto a = read_typed(wanted);
  const auto b = read_typed(got);
  if (!a || !b) return wanted == got;
  const auto same_kinds = [](const auto& self, const Value& x, const Value& y) -> bool {
    if (x.kind() != y.kind()) return false;
    if (x.is(Value::Kind::number) && x.as_number() != x.as_number()) return y.as_number() != y.as_number();
    if (x.is(Value::Kind::list) || x.is(Value::Kind::map)) {
      if (x.size() != y.size()) return false;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (x.is(Value::Kind::list) && !self(self, x.item(i), y.item(i))) return false;
        if (x.is(Value::Kind::map) && !(self(self, x.key(i), y.key(i)) && self(self, x.value(i), y.value(i))))
          return false;
      }
      return true;
    }
    if (x.is(Value::Kind::optional)) {
      return x.has_value() == y.has_value() && (!x.has_value() || self(self, x.optional_value(), y.optional_value()));
    }
    return expr::equal(x, y);
  };
  return same_kinds(same_kinds, *a, *b);
}

bool passes(const Json& expected, const Json& answer) {
  if (expected.find("error")) {
    const Json* code = expected.find("code");
    return answer.find("error") && (!code || *code == answer["code"]);
  }
  if (answer.find("error")) return false;
  if (const Json* value = expected.find("value"); value && !same_typed(*value, answer["value"])) return false;
  if (const Json* type = expected.find("type"); type && (answer.find("type") || !expected.find("value"))) {
    return *type == answer["type"];
  }
  return true;
}

}  // namespace

Json answer_expression_vector(const Json& vector) {
  const std::string id(vector.text_or("id", ""));
  expr::Options options;
  options.container = std::string(vector.text_or("container", ""));
  options.check = !is_set(vector, "disable_check");
  options.block_macros = true;
  options.functions = declared_functions(vector["functions"]);
  expr::Environment environment;
  std::vector<Value> bindings;
  if (const Json& types = vector["types"]; types.is_object()) {
    for (const Json::Member& member : types.members()) {
      const auto type = member.value.is_string() ? expr::Type::parse(member.value.as_string()) : std::nullopt;
      environment.variables.push_back({member.key.str(), type.value_or(expr::Type::dyn())});
    }
  }
  bindings.resize(environment.variables.size());
  if (const Json& given = vector["bindings"]; given.is_object()) {
    for (const Json::Member& member : given.members()) {
      auto value = read_typed(member.value);
      if (!value) return Json::object({{"id", id}, {"skip", value.error().message}});
      std::size_t slot = 0;
      while (slot < environment.variables.size() && environment.variables[slot].name != member.key.view()) ++slot;
      if (slot == environment.variables.size()) {
        environment.variables.push_back({member.key.str(), expr::Type::dyn()});
        bindings.emplace_back();
      }
      bindings[slot] = std::move(*value);
    }
  }
  const std::string text(vector.text_or("expr", ""));
  const auto compiled = expr::compile(text, environment, options);
  if (!compiled) {
    const expr::Fault& fault = compiled.error().front();
    return failed(id, fault, fault.code == "syntax" || fault.code == "limit" ? "parse" : "check");
  }
  Json answer = Json::object({{"id", id}});
  if (options.check) answer.set("type", compiled->type().text());
  if (is_set(vector, "check_only")) return answer;
  const auto value = compiled->evaluate(bindings);
  if (!value) return failed(id, value.error(), "eval");
  std::size_t parts_left = 1'000'000;
  answer.set("value", write_typed(*value, parts_left));
  if (parts_left == 0) return failed(id, {"cost_exceeded", "the value has too many parts to print", 0, 0}, "eval");
  return answer;
}

int answer_expression_vectors(std::istream& in, std::ostream& out) {
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    const auto vector = parse_json(line, vector_limits);
    const Json answer =
        vector ? answer_expression_vector(*vector) : Json::object({{"id", Json()}, {"skip", vector.error().message}});
    out << write_json(answer) << "\n";
  }
  out << std::flush;
  return exit_done;
}

int score_expression_vectors(const std::vector<std::string>& files, std::istream& in, std::ostream& out,
                             std::ostream& err) {
  std::size_t all = 0;
  std::size_t passed = 0;
  std::map<std::string, std::pair<std::size_t, std::size_t>> groups;  // passed, all
  for (const std::string& file : files) {
    const auto text = read_input(file, in, Limits().body_bytes_max);
    if (!text) {
      err << text.error().message << "\n";
      return exit_usage;
    }
    const auto document = parse_json(*text, vector_limits);
    if (!document || !(*document)["vectors"].is_array()) {
      err << file << ": " << (document ? "has no list \"vectors\"" : document.error().message) << "\n";
      return exit_usage;
    }
    for (const Json& vector : (*document)["vectors"].items()) {
      const Json answer = answer_expression_vector(vector);
      const bool good = passes(vector["expect"], answer);
      auto& group = groups[std::string(vector.text_or("group", "other"))];
      ++all;
      ++group.second;
      passed += good ? 1 : 0;
      group.first += good ? 1 : 0;
      if (!good) {
        out << "failed " << vector.text_or("id", "?") << ": " << vector.text_or("expr", "") << "\n  wanted "
            << write_json(vector["expect"]) << "\n  got    " << write_json(answer) << "\n";
      }
    }
  }
  for (const auto& [name, counts] : groups) out << name << ": " << counts.first << " of " << counts.second << "\n";
  out << "all: " << passed << " of " << all << "\n";
  return passed == all ? exit_done : exit_failed;
}

}  // namespace cairn::cli
