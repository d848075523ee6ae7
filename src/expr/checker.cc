#include "expr/checker.h"

#include "base/suggest.h"

namespace cairn::expr {

Checker::Checker(const Tree& tree, const Environment& environment, const Options& options)
    : tree_(tree), environment_(environment), options_(options), meanings_(tree.nodes.size()) {
  for (const Variable& variable : environment_.variables) {
    dotted_variables_ = dotted_variables_ || variable.name.find('.') != std::string::npos;
  }
}

const std::vector<Meaning>& Checker::run() {
  check(tree_.root);
  return meanings_;
}

void Checker::report(const Node& node, std::string code, std::string message) {
  constexpr std::size_t faults_max = 20;
  if (options_.check && faults_.size() < faults_max) {
    faults_.push_back({std::move(code), std::move(message), node.offset, node.length});
  }
}

std::uint32_t Checker::reserve(std::uint32_t count) {
  const std::uint32_t first = slots_;
  slots_ += count;
  slots_max_ = std::max(slots_max_, slots_);
  return first;
}

Type Checker::check(NodeId id) {
  const Node& node = tree_.at(id);
  Type type;
  switch (node.kind) {
    case NodeKind::literal:
      switch (tree_.constants[node.constant].kind()) {
        case Value::Kind::null: type = Type::null(); break;
        case Value::Kind::boolean: type = Type::boolean(); break;
        case Value::Kind::integer: type = Type::integer(); break;
        case Value::Kind::unsigned_integer: type = Type::unsigned_integer(); break;
        case Value::Kind::number: type = Type::number(); break;
        case Value::Kind::string: type = Type::string(); break;
        case Value::Kind::bytes: type = Type::bytes(); break;
        default: break;
      }
      break;
    case NodeKind::name: type = check_name(id, node); break;
    case NodeKind::select: type = check_select(id, node); break;
    case NodeKind::index: type = check_index(id, node); break;
    case NodeKind::call: type = check_call(id, node); break;
    case NodeKind::list: type = check_list(node); break;
    case NodeKind::map: type = check_map(node); break;
    case NodeKind::negate: type = check_negate(node); break;
    case NodeKind::logical_not:
      require_bool(tree_.child(node, 0), "`!`");
      type = Type::boolean();
      break;
    case NodeKind::arithmetic: type = check_arithmetic(node); break;
    case NodeKind::comparison: type = check_comparison(node); break;
    case NodeKind::membership: type = check_membership(node); break;
    case NodeKind::all_of:
    case NodeKind::any_of:
      for (const NodeId child : tree_.children(node))
        require_bool(child, node.kind == NodeKind::all_of ? "`&&`" : "`||`");
      type = Type::boolean();
      break;
    case NodeKind::conditional: type = check_conditional(node); break;
    case NodeKind::loop: type = check_loop(id, node); break;
    case NodeKind::bind: type = check_bind(id, node); break;
    case NodeKind::optional_map: type = check_optional_map(id, node); break;
    case NodeKind::keyed: type = check_keyed(id, node); break;
    case NodeKind::block: type = check_block(id, node); break;
    case NodeKind::failed: break;
  }
  meanings_[id].type = type;
  return type;
}

void Checker::require_bool(NodeId id, const char* where) {
  const Type type = check(id);
  if (!types_.fits(Type::boolean(), type)) {
    report(tree_.at(id), "no_such_overload",
           std::string(where) + " needs a bool, found " + types_.finished(type).text());
  }
}

// ---- names

const Checker::Local* Checker::find_local(std::string_view name) const {
  for (auto it = locals_.rbegin(); it != locals_.rend(); ++it) {
    if (it->name == name) return &*it;
  }
  return nullptr;
}

std::optional<std::uint32_t> Checker::find_variable(std::string_view name) const {
  for (std::uint32_t i = 0; i < environment_.variables.size(); ++i) {
    if (environment_.variables[i].name == name) return i;
  }
  return std::nullopt;
}

std::vector<std::string> Checker::names_in_scope() const {
  std::vector<std::string> names;
  for (const Local& local : locals_) names.emplace_back(local.name);
  for (const Variable& variable : environment_.variables) {
    if (variable.unavailable.empty()) names.push_back(variable.name);
  }
  return names;
}

// Writes `a.b.c` as one text if the chain has only names; false if it begins with anything else.
bool Checker::chain_of_names(NodeId id, std::string& name, bool& absolute) const {
  const Node& node = tree_.at(id);
  if (node.kind == NodeKind::name) {
    if (!node.absolute && find_local(node.text)) return false;
    absolute = node.absolute;
    name.assign(node.text);
    return true;
  }
  if (node.kind != NodeKind::select || node.optional || node.test || node.quoted) return false;
  if (!chain_of_names(tree_.child(node, 0), name, absolute)) return false;
  name += '.';
  name += node.text;
  return true;
}

namespace {

Type type_named(std::string_view name) {
  const auto type = Type::parse(name);
  return type ? *type : Type::dyn();
}

bool is_basic_type(std::string_view name) {
  static constexpr std::string_view names[] = {"bool",
                                               "bytes",
                                               "double",
                                               "dyn",
                                               "int",
                                               "list",
                                               "map",
                                               "null_type",
                                               "string",
                                               "type",
                                               "uint",
                                               "optional_type",
                                               "decimal",
                                               "google.protobuf.Timestamp",
                                               "google.protobuf.Duration"};
  for (const std::string_view candidate : names) {
    if (candidate == name) return true;
  }
  return is_type_name(name);
}

}  // namespace

// Resolves a variable or type whose name is the whole chain that ends in this node.
bool Checker::resolve_qualified(NodeId id, const Node& node) {
  std::string name;
  bool absolute = false;
  if (!chain_of_names(id, name, absolute)) return false;
  Meaning& meaning = meanings_[id];
  std::string container = absolute ? "" : options_.container;
  for (;;) {
    const std::string candidate = container.empty() ? name : container + "." + name;
    const auto slot = find_variable(candidate);
    if (slot && environment_.variables[*slot].unavailable.empty()) {
      meaning.is = Meaning::Is::variable;
      meaning.number = *slot;
      meaning.type = environment_.variables[*slot].type;
      return true;
    }
    if (container.empty()) break;
    const std::size_t dot = container.rfind('.');
    container.resize(dot == std::string::npos ? 0 : dot);
  }
  if (is_basic_type(name)) {
    meaning.is = Meaning::Is::type_name;
    meaning.text = name;
    meaning.type = Type::type(type_named(name));
    return true;
  }
  static_cast<void>(node);
  return false;
}

Type Checker::unknown(NodeId id, std::string code, std::string message) {
  Meaning& meaning = meanings_[id];
  report(tree_.at(id), code, message);
  meaning.is = Meaning::Is::unknown;
  meaning.code = std::move(code);
  meaning.text = std::move(message);
  return Type::dyn();
}

Type Checker::check_name(NodeId id, const Node& node) {
  if (!node.absolute) {
    if (const Local* local = find_local(node.text)) {
      meanings_[id].is = Meaning::Is::local;
      meanings_[id].number = local->slot;
      return local->type;
    }
    if (options_.container.empty()) {
      if (const auto slot = find_variable(node.text)) {
        const Variable& variable = environment_.variables[*slot];
        if (!variable.unavailable.empty()) {
          return unknown(id, "unknown_name", quote(node.text) + " cannot be used here, " + variable.unavailable);
        }
        meanings_[id].is = Meaning::Is::variable;
        meanings_[id].number = *slot;
        return environment_.variables[*slot].type;
      }
    }
  }
  if (resolve_qualified(id, node)) return meanings_[id].type;
  std::string message = quote(node.text) + " is not defined here";
  const auto names = names_in_scope();
  if (const auto near = nearest_name(node.text, names)) {
    message += "; did you mean " + quote(*near) + "?";
  } else if (!names.empty() && names.size() <= 8) {
    message += "; names are ";
    for (std::size_t i = 0; i < names.size(); ++i) message += (i > 0 ? ", " : "") + quote(names[i]);
  }
  return unknown(id, "unknown_name", std::move(message));
}

Type Checker::check_select(NodeId id, const Node& node) {
  const Node& operand = tree_.child_at(node, 0);
  const bool plain = !node.optional && !node.quoted;
  // A longer name takes precedence over a member of a shorter one. Without dotted names this search is skipped.
  if (plain && !node.test &&
      (dotted_variables_ || !options_.container.empty() ||
       (operand.kind == NodeKind::name && !find_variable(operand.text)) || operand.kind == NodeKind::select)) {
    if (resolve_qualified(id, node)) return meanings_[id].type;
  }
  const Type type = check(tree_.child(node, 0));
  const Type result = select_from(type, node);
  if (node.test) return Type::boolean();
  if (node.optional && !types_.resolved(result).is(Type::Kind::optional)) return Type::optional(result);
  return result;
}

Type Checker::select_from(const Type& given, const Node& node) {
  const Type type = types_.resolved(given);
  switch (type.kind()) {
    case Type::Kind::dyn:
    case Type::Kind::variable: return Type::dyn();
    case Type::Kind::optional: return Type::optional(select_from(type.parameter(0), node));
    case Type::Kind::map: {
      if (!type.has_members()) return type.parameter(1);
      if (const Type* member = type.find_member(node.text)) return *member;
      if (type.closed() && !node.test && !node.optional) {
        std::vector<std::string> names;
        for (const Type::Member& member : type.members()) names.push_back(member.name);
        std::string message =
            "there is no " + quote(node.text) + " in " + quote(std::string(tree_.child_at(node, 0).text));
        if (const auto near = nearest_name(node.text, names)) message += "; did you mean " + quote(*near) + "?";
        report(node, "no_such_key", std::move(message));
      }
      return Type::dyn();
    }
    default:
      report(node, "no_such_overload",
             with_article(types_.finished(type).text()) + " has no members, so no " + quote(node.text));
      return Type::dyn();
  }
}

Type Checker::check_index(NodeId, const Node& node) {
  const Type type = check(tree_.child(node, 0));
  const Type index = check(tree_.child(node, 1));
  const Type result = index_into(type, index, node);
  if (node.optional && !types_.resolved(result).is(Type::Kind::optional)) return Type::optional(result);
  return result;
}

Type Checker::index_into(const Type& given, const Type& index, const Node& node) {
  const Type type = types_.resolved(given);
  const Type at = types_.resolved(index);
  switch (type.kind()) {
    case Type::Kind::dyn:
    case Type::Kind::variable: return Type::dyn();
    case Type::Kind::optional: return Type::optional(index_into(type.parameter(0), index, node));
    case Type::Kind::list:
      if (!types_.fits(Type::numeric(), at)) {
        report(tree_.child_at(node, 1), "no_such_overload",
               "a list is indexed by an int, found " + types_.finished(at).text());
      }
      return type.parameter(0);
    case Type::Kind::map: {
      const Type key = types_.resolved(type.parameter(0));
      if (!(key.is_number() && at.is_number()) && !types_.fits(key, at)) {
        report(tree_.child_at(node, 1), "no_such_overload",
               "the keys of this map are " + types_.finished(key).text() + ", found " + types_.finished(at).text());
      }
      const Node& literal = tree_.child_at(node, 1);
      if (type.has_members() && literal.kind == NodeKind::literal &&
          tree_.constants[literal.constant].is(Value::Kind::string)) {
        if (const Type* member = type.find_member(tree_.constants[literal.constant].as_text())) return *member;
        return Type::dyn();
      }
      return type.has_members() ? Type::dyn() : type.parameter(1);
    }
    default:
      report(node, "no_such_overload", with_article(types_.finished(type).text()) + " cannot be indexed");
      return Type::dyn();
  }
}

// ---- containers and scopes

Type Checker::check_list(const Node& node) {
  if (node.count == 0) return Type::list(types_.fresh());
  Type element;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    Type type = check(tree_.child(node, i));
    if (tree_.optional_item(node, i)) {
      const Type resolved = types_.resolved(type);
      type = resolved.is(Type::Kind::optional) ? resolved.parameter(0) : Type::dyn();
      if (!resolved.is(Type::Kind::optional) && !resolved.is_dyn()) {
        report(tree_.child_at(node, i), "no_such_overload",
               "`?` needs an optional, found " + types_.finished(resolved).text());
      }
    }
    element = i == 0 ? type : types_.join(element, type);
  }
  return Type::list(element);
}

Type Checker::check_map(const Node& node) {
  if (node.count == 0) return Type::map(types_.fresh(), types_.fresh());
  Type key;
  Type value;
  for (std::uint32_t i = 0; i < node.count; i += 2) {
    const Type key_type = check(tree_.child(node, i));
    Type value_type = check(tree_.child(node, i + 1));
    if (tree_.optional_item(node, i)) {
      const Type resolved = types_.resolved(value_type);
      value_type = resolved.is(Type::Kind::optional) ? resolved.parameter(0) : Type::dyn();
      if (!resolved.is(Type::Kind::optional) && !resolved.is_dyn()) {
        report(tree_.child_at(node, i + 1), "no_such_overload",
               "`?` needs an optional, found " + types_.finished(resolved).text());
      }
    }
    switch (types_.resolved(key_type).kind()) {
      case Type::Kind::dyn:
      case Type::Kind::variable:
      case Type::Kind::boolean:
      case Type::Kind::integer:
      case Type::Kind::unsigned_integer:
      case Type::Kind::numeric:
      case Type::Kind::string: break;
      default:
        report(tree_.child_at(node, i), "no_such_overload",
               "a key is a string, int, uint or bool, found " + types_.finished(key_type).text());
    }
    key = i == 0 ? key_type : types_.join(key, key_type);
    value = i == 0 ? value_type : types_.join(value, value_type);
  }
  return Type::map(key, value);
}

Type Checker::check_loop(NodeId id, const Node& node) {
  const Type range = types_.resolved(check(tree_.child(node, 0)));
  const bool two = !node.second.empty();
  Type first;
  Type second;
  switch (range.kind()) {
    case Type::Kind::list:
      first = two ? Type::integer() : range.parameter(0);
      second = range.parameter(0);
      break;
    case Type::Kind::map:
      first = range.parameter(0);
      second = range.has_members() ? Type::dyn() : range.parameter(1);
      break;
    case Type::Kind::dyn:
    case Type::Kind::variable: break;
    default:
      report(tree_.child_at(node, 0), "no_such_overload",
             "only lists and maps can be gone through, found " + types_.finished(range).text());
  }
  const std::uint32_t base = reserve(5);
  meanings_[id].number = base;
  locals_.push_back({node.text, first, base + 2});
  if (two) locals_.push_back({node.second, second, base + 3});
  if (node.count > 2) require_bool(tree_.child(node, 2), "the filter");
  Type result;
  switch (node.loop) {
    case LoopKind::all:
    case LoopKind::exists:
    case LoopKind::exists_one:
      require_bool(tree_.child(node, 1), "the condition");
      result = Type::boolean();
      break;
    case LoopKind::filter:
      require_bool(tree_.child(node, 1), "the condition");
      result = Type::list(first);
      break;
    case LoopKind::map:
    case LoopKind::transform_list: result = Type::list(check(tree_.child(node, 1))); break;
    case LoopKind::transform_map: result = Type::map(first, check(tree_.child(node, 1))); break;
    case LoopKind::transform_entries: {
      const Type entry = check(tree_.child(node, 1));
      result = Type::map(types_.fresh(), types_.fresh());
      if (!types_.fits(result, entry)) {
        report(tree_.child_at(node, 1), "no_such_overload",
               "transformMapEntry needs a map, found " + types_.finished(entry).text());
      }
      break;
    }
  }
  locals_.resize(locals_.size() - (two ? 2 : 1));
  slots_ = base;
  return result;
}

Type Checker::check_bind(NodeId id, const Node& node) {
  const Type value = check(tree_.child(node, 0));
  const std::uint32_t slot = reserve(1);
  meanings_[id].number = slot;
  locals_.push_back({node.text, value, slot});
  const Type result = check(tree_.child(node, 1));
  locals_.pop_back();
  slots_ = slot;
  return result;
}

Type Checker::check_optional_map(NodeId id, const Node& node) {
  const Type given = types_.resolved(check(tree_.child(node, 0)));
  Type inside;
  if (given.is(Type::Kind::optional)) {
    inside = given.parameter(0);
  } else if (!given.is_dyn() && !given.is(Type::Kind::variable)) {
    report(tree_.child_at(node, 0), "no_such_overload",
           "optMap needs an optional, found " + types_.finished(given).text());
  }
  const std::uint32_t slot = reserve(1);
  meanings_[id].number = slot;
  locals_.push_back({node.text, inside, slot});
  const Type result = check(tree_.child(node, 1));
  locals_.pop_back();
  slots_ = slot;
  if (!node.flat) return Type::optional(result);
  const Type resolved = types_.resolved(result);
  if (!types_.fits(Type::optional(types_.fresh()), resolved)) {
    report(tree_.child_at(node, 1), "no_such_overload",
           "optFlatMap needs an optional, found " + types_.finished(resolved).text());
  }
  return resolved;
}

Type Checker::check_keyed(NodeId id, const Node& node) {
  const Type list = check(tree_.child(node, 0));
  const std::uint32_t slot = reserve(1);
  meanings_[id].number = slot;
  locals_.push_back({"@keyed", list, slot});
  check(tree_.child(node, 1));
  locals_.pop_back();
  slots_ = slot;
  const Function* function = find(node.text);
  meanings_[id].function = function;
  meanings_[id].is = Meaning::Is::function;
  return check_arguments(id, node, *function, tree_.children(node), true);
}

Type Checker::check_block(NodeId id, const Node& node) {
  const std::uint32_t base = reserve(node.count - 1);
  meanings_[id].number = base;
  const std::size_t outer = locals_.size();
  std::vector<std::string> names(node.count);
  for (std::uint32_t i = 0; i + 1 < node.count; ++i) {
    const Type type = check(tree_.child(node, i));
    names[i] = "@index" + std::to_string(i);
    locals_.push_back({names[i], type, base + i});
  }
  const Type result = check(tree_.child(node, node.count - 1));
  locals_.resize(outer);
  slots_ = base;
  return result;
}

Type Checker::check_conditional(const Node& node) {
  require_bool(tree_.child(node, 0), "the condition before `?`");
  const Type yes = check(tree_.child(node, 1));
  return types_.join(yes, check(tree_.child(node, 2)));
}

}  // namespace cairn::expr
