#include "expr/function.h"

#include <algorithm>
#include <array>

#include "base/result.h"

namespace cairn::expr {

namespace {

std::uint32_t bit(Value::Kind kind) { return 1u << static_cast<unsigned>(kind); }
constexpr std::uint32_t every_kind = 0xFFFFFFFF;

std::uint32_t kinds_of(const Type& type) {
  using Kind = Type::Kind;
  switch (type.kind()) {
    case Kind::null: return bit(Value::Kind::null);
    case Kind::boolean: return bit(Value::Kind::boolean);
    case Kind::integer: return bit(Value::Kind::integer);
    case Kind::unsigned_integer: return bit(Value::Kind::unsigned_integer);
    case Kind::number: return bit(Value::Kind::number);
    case Kind::numeric:
      return bit(Value::Kind::integer) | bit(Value::Kind::unsigned_integer) | bit(Value::Kind::number);
    case Kind::string: return bit(Value::Kind::string);
    case Kind::bytes: return bit(Value::Kind::bytes);
    case Kind::timestamp: return bit(Value::Kind::timestamp);
    case Kind::duration: return bit(Value::Kind::duration);
    case Kind::list: return bit(Value::Kind::list);
    case Kind::map: return bit(Value::Kind::map);
    case Kind::type: return bit(Value::Kind::type);
    case Kind::optional: return bit(Value::Kind::optional);
    case Kind::decimal: return bit(Value::Kind::decimal);
    case Kind::opaque: return bit(Value::Kind::opaque);
    case Kind::dyn:
    case Kind::variable: break;
  }
  return every_kind;
}

// The offset of the parenthesis that closes `text[open]`.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

bool names_type(std::string_view text) {
  std::vector<std::string> parameters;
  const auto type = Type::parse(text, parameters);
  if (!type) return false;
  return !type->is(Type::Kind::opaque) || is_type_name(type->name());
}

Signature read_signature(const Overload& overload, std::string_view library) {
  const std::string_view text = overload.signature;
  const std::size_t arrow = text.rfind(" -> ");
  CAIRN_ASSERT(arrow != std::string_view::npos);
  // The name ends before the last parenthesis group before the arrow.
  std::size_t open = std::string_view::npos;
  for (std::size_t at = text.find('('); at != std::string_view::npos && at < arrow;
       at = text.find('(', closing(text, at))) {
    open = at;
  }
  CAIRN_ASSERT(open != std::string_view::npos);
  Signature result;
  result.overload = &overload;
  result.library = library;
  std::string_view name = text.substr(0, open);
  std::vector<std::string> parameters;
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos && names_type(name.substr(0, dot))) {
    result.member = true;
    result.parameters.push_back(*Type::parse(name.substr(0, dot), parameters));
    name = name.substr(dot + 1);
  }
  result.name = std::string(name);
  std::string_view inside = text.substr(open + 1, closing(text, open) - open - 1);
  if (overload.keyed) {
    result.parameters.push_back(Type::list(Type::dyn()));
    inside = {};
  }
  while (!inside.empty()) {
    int depth = 0;
    std::size_t end = 0;
    while (end < inside.size() && (depth > 0 || inside[end] != ',')) {
      if (inside[end] == '(') ++depth;
      if (inside[end] == ')') --depth;
      ++end;
    }
    std::string_view one = inside.substr(0, end);
    if (one.ends_with("...")) {
      result.repeated = true;
      one.remove_suffix(3);
    }
    const auto type = Type::parse(one, parameters);
    CAIRN_ASSERT(type.has_value());
    result.parameters.push_back(*type);
    inside.remove_prefix(std::min(inside.size(), end + 1));
  }
  const auto type = Type::parse(text.substr(arrow + 4), parameters);
  CAIRN_ASSERT(type.has_value());
  result.result = *type;
  result.variable_count = static_cast<std::uint32_t>(parameters.size());
  for (const Type& parameter : result.parameters) result.accepts.push_back(kinds_of(parameter));
  return result;
}

struct Registry {
  std::vector<Function> functions;

  Registry() {
    const std::array libraries = {
        library_standard(), library_time(),     library_strings(),   library_math(),        library_lists(),
        library_sets(),     library_encoders(), library_optionals(), library_regex(),       library_network(),
        library_decimal(),  library_dates(),    library_aggregate(), library_collections(), library_general(),
        library_text(),     library_hash(),
    };
    std::vector<Signature> all;
    for (const Library& library : libraries) {
      for (const Overload& overload : library.overloads) all.push_back(read_signature(overload, library.name));
    }
    std::stable_sort(all.begin(), all.end(), [](const Signature& a, const Signature& b) { return a.name < b.name; });
    for (Signature& signature : all) {
      if (functions.empty() || functions.back().name != signature.name) functions.push_back({signature.name, {}});
      functions.back().signatures.push_back(std::move(signature));
    }
  }
};

const Registry& registry() {
  static const Registry held;
  return held;
}

}  // namespace

const Function* find_function(std::string_view name) {
  const auto& functions = registry().functions;
  const auto it = std::lower_bound(functions.begin(), functions.end(), name,
                                   [](const Function& function, std::string_view key) { return function.name < key; });
  return it != functions.end() && it->name == name ? &*it : nullptr;
}

const std::vector<Function>& all_functions() { return registry().functions; }

bool is_type_name(std::string_view name) { return name == "net.IP" || name == "net.CIDR"; }

}  // namespace cairn::expr
