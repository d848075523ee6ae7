#include "base/suggest.h"
#include "expr/checker.h"
#include "expr/operators.h"

namespace cairn::expr {

namespace {

bool is_open(const Type& type) { return type.is_dyn() || type.is(Type::Kind::variable); }

bool has_arity(const Signature& signature, std::size_t count) {
  return signature.repeated ? count >= signature.parameters.size() : count == signature.parameters.size();
}

const Type& parameter_at(const Signature& signature, std::size_t index) {
  return signature.parameters[std::min(index, signature.parameters.size() - 1)];
}

}  // namespace

const Function* Checker::find(std::string_view name) const {
  for (const Function& function : options_.functions) {
    if (function.name == name) return &function;
  }
  return find_function(name);
}

const Function* Checker::find_in_container(const std::string& name, bool absolute) const {
  std::string container = absolute ? "" : options_.container;
  while (!container.empty()) {
    if (const Function* function = find(container + "." + name)) return function;
    const std::size_t dot = container.rfind('.');
    container.resize(dot == std::string::npos ? 0 : dot);
  }
  return find(name);
}

Type Checker::check_call(NodeId id, const Node& node) {
  if (!node.member && node.text == "secret") return check_secret(id, node);
  const auto children = tree_.children(node);
  const Function* function = nullptr;
  if (node.member) {
    std::string name;
    bool absolute = false;
    if (chain_of_names(children[0], name, absolute)) {
      name += '.';
      name += node.text;
      function = find_in_container(name, absolute);
      if (function) {
        meanings_[id].qualified = true;
        meanings_[id].is = Meaning::Is::function;
        meanings_[id].function = function;
        for (const NodeId child : children.subspan(1)) check(child);
        return check_arguments(id, node, *function, children.subspan(1), false);
      }
    }
    function = find(node.text);
  } else {
    function = find_in_container(std::string(node.text), node.absolute);
  }
  for (const NodeId child : children) check(child);
  if (!function) {
    std::vector<std::string> names;
    for (const Function& known : all_functions()) names.push_back(known.name);
    for (const std::string_view macro : {"all", "exists", "exists_one", "map", "filter", "has"})
      names.emplace_back(macro);
    std::string message = "there is no function " + quote(node.text);
    if (const auto near = nearest_name(node.text, names)) message += "; did you mean " + quote(*near) + "?";
    return unknown(id, "unknown_function", std::move(message));
  }
  meanings_[id].is = Meaning::Is::function;
  meanings_[id].function = function;
  return check_arguments(id, node, *function, children, node.member);
}

Type Checker::check_arguments(NodeId, const Node& node, const Function& function, std::span<const NodeId> args,
                              bool member) {
  const auto attempt = [&](const Signature& signature) -> std::optional<Type> {
    const std::uint32_t base = signature.variable_count > 0 ? types_.fresh_many(signature.variable_count) : 0;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Type& parameter = parameter_at(signature, i);
      if (!types_.fits(signature.variable_count > 0 ? types_.shifted(parameter, base) : parameter,
                       meanings_[args[i]].type)) {
        return std::nullopt;
      }
    }
    return signature.variable_count > 0 ? types_.substituted(types_.shifted(signature.result, base)) : signature.result;
  };
  const Signature* only = nullptr;
  std::optional<Type> result;
  bool arity_found = false;
  std::size_t matches = 0;
  for (const Signature& signature : function.signatures) {
    if (signature.member != member || !has_arity(signature, args.size())) continue;
    arity_found = true;
    const std::size_t mark = types_.mark();
    const auto type = attempt(signature);
    types_.rewind(mark);
    if (!type) continue;
    ++matches;
    only = &signature;
    result = result && !(*result == *type) ? Type::dyn() : *type;
  }
  if (matches == 1) return *attempt(*only);
  if (matches > 1) return *result;
  std::string found;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i == 0 && member) continue;
    if (!found.empty()) found += ", ";
    found += types_.finished(meanings_[args[i]].type).text();
  }
  std::string message = quote(function.name);
  if (!arity_found) {
    bool other_form = false;
    for (const Signature& signature : function.signatures) other_form = other_form || signature.member == member;
    message += other_form ? " cannot be called with " + std::to_string(args.size() - (member ? 1 : 0)) + " arguments"
               : member   ? " is not called on a value"
                          : " is called on a value";
  } else {
    message += " cannot be called with (" + found + ")";
    if (member) message += " on " + with_article(types_.finished(meanings_[args[0]].type).text());
  }
  message += "; it is ";
  std::size_t listed = 0;
  for (const Signature& signature : function.signatures) {
    if (!signature.overload || listed == 3) break;
    message += (listed++ > 0 ? ", " : "") + quote(signature.overload->signature);
  }
  report(node, "no_such_overload", std::move(message));
  return Type::dyn();
}

Type Checker::check_secret(NodeId id, const Node& node) {
  meanings_[id].is = Meaning::Is::secret;
  for (const NodeId child : tree_.children(node)) check(child);
  if (!environment_.allow_secret) {
    return unknown(id, "unknown_function",
                   "`secret` may stand only where a transport sends it: in headers, url, query and body");
  }
  const bool literal = node.count == 1 && tree_.child_at(node, 0).kind == NodeKind::literal &&
                       tree_.constants[tree_.child_at(node, 0).constant].is(Value::Kind::string);
  if (!literal)
    return unknown(id, "invalid_argument", "`secret` takes the name of a secret as a literal: secret(\"name\")");
  return Type::string();
}

std::optional<Type> Checker::operator_result(std::string_view name, std::span<const Type> args) {
  const Function* function = find_function(name);
  if (!function) return std::nullopt;
  for (const Signature& signature : function->signatures) {
    if (signature.parameters.size() != args.size()) continue;
    const std::size_t mark = types_.mark();
    bool fits = true;
    for (std::size_t i = 0; i < args.size() && fits; ++i) fits = types_.fits(signature.parameters[i], args[i]);
    types_.rewind(mark);
    if (fits) return signature.result;
  }
  return std::nullopt;
}

Type Checker::check_negate(const Node& node) {
  const Type type = types_.resolved(check(tree_.child(node, 0)));
  if (is_open(type) || type.is(Type::Kind::integer) || type.is(Type::Kind::number) || type.is(Type::Kind::numeric) ||
      type.is(Type::Kind::duration)) {
    return is_open(type) ? Type::dyn() : type;
  }
  const Type args[] = {type};
  if (const auto result = operator_result("-_", args)) return *result;
  report(node, "no_such_overload", "`-` needs a number, found " + types_.finished(type).text());
  return Type::dyn();
}

Type Checker::check_arithmetic(const Node& node) {
  const Type a = types_.resolved(check(tree_.child(node, 0)));
  const Type b = types_.resolved(check(tree_.child(node, 1)));
  if (is_open(a) || is_open(b)) return Type::dyn();
  using Kind = Type::Kind;
  const bool adds = node.op == Operator::add;
  const bool subtracts = node.op == Operator::subtract;
  if (a.is_number() && b.is_number()) {
    const bool whole_only = node.op == Operator::modulo;
    if (!whole_only || (!a.is(Kind::number) && !b.is(Kind::number))) {
      if (a.kind() == b.kind()) return a;
      if (a.is(Kind::numeric) || b.is(Kind::numeric)) return Type::numeric();
      if (!whole_only) return Type::number();
    }
  } else if (adds && a.kind() == b.kind() && (a.is(Kind::string) || a.is(Kind::bytes) || a.is(Kind::duration))) {
    return a;
  } else if (adds && a.is(Kind::list) && b.is(Kind::list)) {
    return types_.join(a, b);
  } else if (adds &&
             ((a.is(Kind::timestamp) && b.is(Kind::duration)) || (a.is(Kind::duration) && b.is(Kind::timestamp)))) {
    return Type::timestamp();
  } else if (subtracts && a.is(Kind::timestamp) && (b.is(Kind::timestamp) || b.is(Kind::duration))) {
    return b.is(Kind::timestamp) ? Type::duration() : Type::timestamp();
  } else if (subtracts && a.is(Kind::duration) && b.is(Kind::duration)) {
    return a;
  }
  const Type args[] = {a, b};
  if (const auto result = operator_result(operator_function(node.op), args)) return *result;
  std::string message = quote(operator_text(node.op)) + " cannot combine " + types_.finished(a).text() + " and " +
                        types_.finished(b).text();
  if (adds && (a.is(Kind::string) || b.is(Kind::string))) message += "; string(…) makes text of a value";
  report(node, "no_such_overload", std::move(message));
  return Type::dyn();
}

Type Checker::check_comparison(const Node& node) {
  const Type a = types_.resolved(check(tree_.child(node, 0)));
  const Type b = types_.resolved(check(tree_.child(node, 1)));
  using Kind = Type::Kind;
  const bool equality = node.op == Operator::equal || node.op == Operator::unequal;
  bool works = is_open(a) || is_open(b) || (a.is_number() && b.is_number()) ||
               (a.is(Kind::decimal) && (b.is(Kind::decimal) || (b.is_number() && !b.is(Kind::number)))) ||
               (b.is(Kind::decimal) && a.is_number() && !a.is(Kind::number));
  if (!works && equality) {
    // Containers with different element types compare by value, so only the outer kinds must agree.
    works =
        a.is(Kind::null) || b.is(Kind::null) || (a.kind() == b.kind() && (!a.is(Kind::opaque) || a.name() == b.name()));
  } else if (!works) {
    works = a.kind() == b.kind() && (a.is(Kind::string) || a.is(Kind::bytes) || a.is(Kind::boolean) ||
                                     a.is(Kind::timestamp) || a.is(Kind::duration));
  }
  if (!works) {
    report(node, "no_such_overload",
           quote(operator_text(node.op)) + " cannot compare " + types_.finished(a).text() + " and " +
               types_.finished(b).text());
  }
  return Type::boolean();
}

Type Checker::check_membership(const Node& node) {
  const Type item = types_.resolved(check(tree_.child(node, 0)));
  const Type container = types_.resolved(check(tree_.child(node, 1)));
  if (!is_open(container) && !container.is(Type::Kind::list) && !container.is(Type::Kind::map)) {
    report(tree_.child_at(node, 1), "no_such_overload",
           "`in` looks into a list or a map, found " + types_.finished(container).text());
    return Type::boolean();
  }
  if (is_open(container)) return Type::boolean();
  const Type inside = types_.resolved(container.parameter(0));
  const bool works = is_open(item) || is_open(inside) || (item.is_number() && inside.is_number()) ||
                     item.is(Type::Kind::null) || inside.is(Type::Kind::null) || item.is(Type::Kind::decimal) ||
                     inside.is(Type::Kind::decimal) || item.kind() == inside.kind();
  if (!works) {
    report(node, "no_such_overload",
           with_article(types_.finished(item).text()) + " is never in a " + types_.finished(container).text());
  }
  return Type::boolean();
}

}  // namespace cairn::expr
