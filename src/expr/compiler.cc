#include "expr/compiler.h"

#include <algorithm>

#include "expr/evaluator.h"
#include "expr/parser.h"
#include "expr/regex.h"
#include "expr/secret_mark.h"

namespace cairn::expr {

Result<Expression, std::vector<Fault>> compile(std::string_view text, const Environment& environment) {
  static const Options plain;
  return compile(text, environment, plain);
}

Result<Expression, std::vector<Fault>> compile(std::string_view text, const Environment& environment,
                                               const Options& options) {
  return Compiler(text, environment, options).run();
}

Result<Expression, std::vector<Fault>> Compiler::run() {
  code_ = std::make_shared<Code>();
  code_->text = std::string(text_);
  auto tree = parse(code_->text, options_.block_macros);
  if (!tree) return std::vector<Fault>{std::move(tree).error()};
  tree_ = std::move(*tree);
  checker_ = std::make_unique<Checker>(tree_, environment_, options_);
  meanings_ = &checker_->run();
  if (!checker_->faults().empty()) {
    auto faults = std::move(checker_->faults());
    std::stable_sort(faults.begin(), faults.end(), [](const Fault& a, const Fault& b) { return a.offset < b.offset; });
    return faults;
  }
  code_->instructions.reserve(tree_.nodes.size() + 4);
  code_->positions.reserve(tree_.nodes.size() + 4);
  varies_.resize(tree_.nodes.size());
  generate(tree_.root);
  emit(tree_.root, {Op::done}, 0);
  if (!faults_.empty()) return std::move(faults_);
  code_->slots = checker_->slots();
  code_->type = checker_->type_of(tree_.root);
  for (const Variable& variable : environment_.variables) code_->variables.push_back(variable.name);
  Expression expression;
  expression.code_ = std::move(code_);
  return expression;
}

std::uint32_t Compiler::emit(NodeId id, Instruction instruction, int stack_change) {
  const Node& node = tree_.at(id);
  code_->instructions.push_back(instruction);
  code_->positions.push_back({node.offset, node.length});
  stack_ += stack_change;
  code_->stack_max = std::max(code_->stack_max, static_cast<std::uint32_t>(stack_));
  return here() - 1;
}

// Errors since `begin` become a value on the stack here instead of leaving the expression.
void Compiler::protect(std::uint32_t begin, int stack) {
  code_->handlers.push_back({begin, here(), here(), static_cast<std::uint32_t>(stack)});
}

std::uint32_t Compiler::add_constant(Value value) {
  code_->constants.push_back(std::move(value));
  return static_cast<std::uint32_t>(code_->constants.size() - 1);
}

std::uint32_t Compiler::add_key(std::string_view key) {
  // Only the last keys are compared, so that compiling a long expression does not take quadratic time.
  const auto size = static_cast<std::uint32_t>(code_->keys.size());
  for (std::uint32_t i = size > 16 ? size - 16 : 0; i < size; ++i) {
    if (code_->keys[i] == key) return i;
  }
  // The view is safe: names are part of the code's text, and generated names never become keys.
  code_->keys.push_back(key);
  return static_cast<std::uint32_t>(code_->keys.size() - 1);
}

std::uint32_t Compiler::add_function(const Function* function) {
  code_->functions.push_back(function);
  return static_cast<std::uint32_t>(code_->functions.size() - 1);
}

void Compiler::push_constant(NodeId id, Value value) {
  emit(id, {Op::push_constant, 0, 0, add_constant(std::move(value))}, 1);
}

std::optional<Value> Compiler::constant_of(NodeId id) {
  // Every level above asks again, so a negative answer is cached.
  if (varies_[id]) return std::nullopt;
  auto value = fold(id);
  if (!value) varies_[id] = true;
  return value;
}

std::optional<Value> Compiler::fold(NodeId id) {
  const Node& node = tree_.at(id);
  switch (node.kind) {
    case NodeKind::literal: return tree_.constants[node.constant];
    case NodeKind::list: {
      if (node.optional) return std::nullopt;
      Value::List items;
      for (const NodeId child : tree_.children(node)) {
        auto item = constant_of(child);
        if (!item) return std::nullopt;
        items.push_back(std::move(*item));
      }
      return Value::list(std::move(items));
    }
    case NodeKind::map: {
      if (node.optional) return std::nullopt;
      Value::Entries entries;
      for (std::uint32_t i = 0; i < node.count; i += 2) {
        auto key = constant_of(tree_.child(node, i));
        if (!key || !is_key(*key)) return std::nullopt;
        auto value = constant_of(tree_.child(node, i + 1));
        if (!value) return std::nullopt;
        entries.push_back({std::move(*key), std::move(*value)});
      }
      std::sort(entries.begin(), entries.end(),
                [](const Value::Entry& a, const Value::Entry& b) { return compare_keys(a.key, b.key) < 0; });
      // Duplicate keys are an error at evaluation.
      for (std::size_t i = 1; i < entries.size(); ++i) {
        if (compare_keys(entries[i - 1].key, entries[i].key) == 0) return std::nullopt;
      }
      return Value::map(std::move(entries));
    }
    case NodeKind::name:
    case NodeKind::select: {
      const Meaning& meaning = (*meanings_)[id];
      if (meaning.is != Meaning::Is::type_name) return std::nullopt;
      const std::string_view name = meaning.text;
      for (const std::string_view known :
           {"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint", "optional_type",
            "decimal", "google.protobuf.Timestamp", "google.protobuf.Duration", "dyn", "net.IP", "net.CIDR"}) {
        if (known == name) return Value::type(known);
      }
      return std::nullopt;
    }
    case NodeKind::call: {
      const Meaning& meaning = (*meanings_)[id];
      if (meaning.is == Meaning::Is::secret)
        return Value::text(secret_marker(constant_of(tree_.child(node, 0))->as_text()));
      if (meaning.is != Meaning::Is::function) return std::nullopt;
      auto children = tree_.children(node);
      if (meaning.qualified) children = children.subspan(1);
      std::vector<Value> args;
      for (const NodeId child : children) {
        auto arg = constant_of(child);
        if (!arg) return std::nullopt;
        args.push_back(std::move(*arg));
      }
      return Evaluator::call_early(*meaning.function, args, node.member && !meaning.qualified);
    }
    default: return std::nullopt;
  }
}

void Compiler::generate(NodeId id) {
  const Node& node = tree_.at(id);
  switch (node.kind) {
    case NodeKind::literal: push_constant(id, tree_.constants[node.constant]); break;
    case NodeKind::name: generate_name(id, node); break;
    case NodeKind::select: generate_select(id, node); break;
    case NodeKind::index:
      generate(tree_.child(node, 0));
      generate(tree_.child(node, 1));
      emit(id, {node.optional ? Op::index_optional : Op::index}, -1);
      break;
    case NodeKind::call: generate_call(id, node); break;
    case NodeKind::list: generate_items(id, node, Op::make_list); break;
    case NodeKind::map: generate_items(id, node, Op::make_map); break;
    case NodeKind::negate:
      generate(tree_.child(node, 0));
      emit(id, {Op::negate}, 0);
      break;
    case NodeKind::logical_not:
      generate(tree_.child(node, 0));
      emit(id, {Op::logical_not}, 0);
      break;
    case NodeKind::arithmetic:
      generate(tree_.child(node, 0));
      generate(tree_.child(node, 1));
      emit(id, {Op::arithmetic, static_cast<std::uint8_t>(node.op)}, -1);
      break;
    case NodeKind::comparison:
      generate(tree_.child(node, 0));
      if (auto constant = constant_of(tree_.child(node, 1))) {
        emit(id, {Op::compare_constant, static_cast<std::uint8_t>(node.op), 0, add_constant(std::move(*constant))}, 0);
      } else {
        generate(tree_.child(node, 1));
        emit(id, {Op::compare, static_cast<std::uint8_t>(node.op)}, -1);
      }
      break;
    case NodeKind::membership:
      generate(tree_.child(node, 0));
      if (auto constant = constant_of(tree_.child(node, 1))) {
        emit(id, {Op::contains_constant, 0, 0, add_constant(std::move(*constant))}, 0);
      } else {
        generate(tree_.child(node, 1));
        emit(id, {Op::contains}, -1);
      }
      break;
    case NodeKind::all_of:
    case NodeKind::any_of: generate_logic(id, node); break;
    case NodeKind::conditional: generate_conditional(id, node); break;
    case NodeKind::loop: generate_loop(id, node); break;
    case NodeKind::bind: {
      const auto slot = static_cast<std::uint16_t>((*meanings_)[id].number);
      generate(tree_.child(node, 0));
      emit(id, {Op::store_local, 0, slot}, -1);
      generate(tree_.child(node, 1));
      break;
    }
    case NodeKind::optional_map: {
      const auto slot = static_cast<std::uint16_t>((*meanings_)[id].number);
      generate(tree_.child(node, 0));
      const std::uint32_t jump = emit(id, {Op::unwrap_or_none}, 0);
      emit(id, {Op::store_local, 0, slot}, -1);
      generate(tree_.child(node, 1));
      if (!node.flat) emit(id, {Op::wrap_some}, 0);
      code_->instructions[jump].index = here();
      break;
    }
    case NodeKind::keyed: {
      const auto slot = static_cast<std::uint16_t>((*meanings_)[id].number);
      generate(tree_.child(node, 0));
      emit(id, {Op::store_local, 0, slot}, -1);
      emit(id, {Op::push_local, 0, slot}, 1);
      generate(tree_.child(node, 1));
      emit(id, {Op::call, 2, 1, add_function((*meanings_)[id].function)}, -1);
      break;
    }
    case NodeKind::block: {
      const std::uint32_t base = (*meanings_)[id].number;
      for (std::uint32_t i = 0; i + 1 < node.count; ++i) {
        generate(tree_.child(node, i));
        emit(id, {Op::store_local, 0, static_cast<std::uint16_t>(base + i)}, -1);
      }
      generate(tree_.child(node, node.count - 1));
      break;
    }
    case NodeKind::failed: break;
  }
}

void Compiler::generate_name(NodeId id, const Node&) {
  const Meaning& meaning = (*meanings_)[id];
  switch (meaning.is) {
    case Meaning::Is::variable:
      code_->reads_variables = true;
      emit(id, {Op::push_variable, 0, 0, meaning.number}, 1);
      break;
    case Meaning::Is::local: emit(id, {Op::push_local, 0, static_cast<std::uint16_t>(meaning.number)}, 1); break;
    case Meaning::Is::type_name: push_constant(id, *constant_of(id)); break;
    case Meaning::Is::unknown:
      code_->faults.push_back({meaning.code, meaning.text});
      emit(id, {Op::raise, 0, 0, static_cast<std::uint32_t>(code_->faults.size() - 1)}, 1);
      break;
    case Meaning::Is::plain:
    case Meaning::Is::function:
    case Meaning::Is::secret: break;
  }
}

void Compiler::generate_select(NodeId id, const Node& node) {
  const Meaning& meaning = (*meanings_)[id];
  if (meaning.is != Meaning::Is::plain) return generate_name(id, node);
  const NodeId operand = tree_.child(node, 0);
  const Meaning& below = (*meanings_)[operand];
  if (!node.test && !node.optional && below.is == Meaning::Is::variable && below.number <= 0xFFFF) {
    code_->reads_variables = true;
    emit(id, {Op::select_variable, 0, static_cast<std::uint16_t>(below.number), add_key(node.text)}, 1);
    return;
  }
  generate(operand);
  emit(id, {node.test ? Op::has : node.optional ? Op::select_optional : Op::select, 0, 0, add_key(node.text)}, 0);
}

void Compiler::generate_items(NodeId id, const Node& node, Op op) {
  if (auto constant = constant_of(id)) return push_constant(id, std::move(*constant));
  for (const NodeId child : tree_.children(node)) generate(child);
  Instruction instruction{op, 0, 0, node.count};
  if (node.optional) {
    std::vector<bool> marks;
    for (std::uint32_t i = 0; i < node.count; ++i) marks.push_back(tree_.optional_item(node, i));
    instruction.small = 1;
    instruction.slot = static_cast<std::uint16_t>(code_->item_marks.size());
    code_->item_marks.push_back(std::move(marks));
  }
  emit(id, instruction, 1 - static_cast<int>(node.count));
}

void Compiler::generate_call(NodeId id, const Node& node) {
  const Meaning& meaning = (*meanings_)[id];
  if (meaning.is == Meaning::Is::unknown) return generate_name(id, node);
  if (auto constant = constant_of(id)) return push_constant(id, std::move(*constant));
  auto args = tree_.children(node);
  if (meaning.qualified) args = args.subspan(1);
  if (args.size() > 255) {
    faults_.push_back({"limit", "a call takes at most 255 arguments", node.offset, node.length});
    return;
  }
  prepare_regex(node, args, *meaning.function);
  for (const NodeId arg : args) generate(arg);
  const bool member = node.member && !meaning.qualified;
  emit(id, {Op::call, static_cast<std::uint8_t>(args.size()), member, add_function(meaning.function)},
       1 - static_cast<int>(args.size()));
}

// A literal pattern is compiled now, so an invalid one is reported now.
void Compiler::prepare_regex(const Node&, std::span<const NodeId> args, const Function& function) {
  if (args.size() < 2 || (function.name != "matches" && !function.name.starts_with("regex."))) return;
  const Node& pattern = tree_.at(args[1]);
  if (pattern.kind != NodeKind::literal || !tree_.constants[pattern.constant].is(Value::Kind::string)) return;
  auto compiled = compile_regex(tree_.constants[pattern.constant].as_text());
  if (compiled) {
    code_->regexes.push_back(std::move(*compiled));
  } else if (options_.check) {
    faults_.push_back({"invalid_argument", compiled.error(), pattern.offset, pattern.length});
  }
}

void Compiler::generate_logic(NodeId id, const Node& node) {
  const bool all = node.kind == NodeKind::all_of;
  const int stack = stack_;
  const std::uint32_t begin = here();
  std::vector<std::uint32_t> exits;
  for (std::uint32_t i = 0; i < node.count; ++i) {
    if (i > 0) exits.push_back(emit(id, {all ? Op::jump_if_false : Op::jump_if_true}, 0));
    const std::uint32_t part = here();
    generate(tree_.child(node, i));
    protect(part, i == 0 ? stack : stack + 1);
    if (i == 0) continue;
    emit(id, {all ? Op::all_of : Op::any_of}, -1);
    // The next part may still absorb an error of the parts so far.
    if (i + 1 < node.count) protect(begin, stack);
  }
  for (const std::uint32_t exit : exits) code_->instructions[exit].index = here();
}

void Compiler::generate_conditional(NodeId id, const Node& node) {
  generate(tree_.child(node, 0));
  const std::uint32_t branch = emit(id, {Op::branch_unless}, -1);
  generate(tree_.child(node, 1));
  const std::uint32_t jump = emit(id, {Op::jump}, -1);
  code_->instructions[branch].index = here();
  generate(tree_.child(node, 2));
  code_->instructions[jump].index = here();
}

void Compiler::generate_loop(NodeId id, const Node& node) {
  const auto base = static_cast<std::uint16_t>((*meanings_)[id].number);
  const auto kept = static_cast<std::uint16_t>(base + loop_result);
  generate(tree_.child(node, 0));
  emit(id, {Op::loop_begin, 0, base}, -1);
  switch (node.loop) {
    case LoopKind::all:
    case LoopKind::exists:
      push_constant(id, Value::boolean(node.loop == LoopKind::all));
      emit(id, {Op::store_local, 0, kept}, -1);
      break;
    case LoopKind::exists_one:
      push_constant(id, Value::integer(0));
      emit(id, {Op::store_local, 0, kept}, -1);
      break;
    case LoopKind::map:
    case LoopKind::filter:
    case LoopKind::transform_list: emit(id, {Op::begin_list, 0, kept}, 0); break;
    case LoopKind::transform_map:
    case LoopKind::transform_entries: emit(id, {Op::begin_map, 0, kept}, 0); break;
  }
  const std::uint32_t next =
      emit(id, {Op::loop_next, node.second.empty() ? std::uint8_t{0} : std::uint8_t{1}, base}, 0);
  if (node.count > 2) {
    generate(tree_.child(node, 2));
    emit(tree_.child(node, 2), {Op::branch_unless, 0, 0, next}, -1);
  }
  const std::uint32_t body = here();
  const int stack = stack_;
  const NodeId computed = tree_.child(node, 1);
  generate(computed);
  std::uint32_t exit = 0;
  switch (node.loop) {
    case LoopKind::all:
    case LoopKind::exists:
      protect(body, stack);
      exit = emit(computed, {node.loop == LoopKind::all ? Op::accumulate_all : Op::accumulate_any, 0, kept}, -1);
      break;
    case LoopKind::exists_one: emit(computed, {Op::accumulate_one, 0, kept}, -1); break;
    case LoopKind::filter:
      emit(computed, {Op::branch_unless, 0, 0, next}, -1);
      emit(id, {Op::push_local, 0, static_cast<std::uint16_t>(base + loop_first)}, 1);
      emit(id, {Op::append, 0, kept}, -1);
      break;
    case LoopKind::map:
    case LoopKind::transform_list: emit(computed, {Op::append, 0, kept}, -1); break;
    case LoopKind::transform_map: emit(computed, {Op::append_entry, 0, kept}, -1); break;
    case LoopKind::transform_entries: emit(computed, {Op::append_entries, 0, kept}, -1); break;
  }
  emit(id, {Op::jump, 0, 0, next}, 0);
  code_->instructions[next].index = here();
  if (exit != 0) code_->instructions[exit].index = here();
  switch (node.loop) {
    case LoopKind::exists_one: emit(id, {Op::finish_one, 0, kept}, 1); break;
    case LoopKind::transform_map:
    case LoopKind::transform_entries: emit(id, {Op::finish_map, 0, kept}, 1); break;
    case LoopKind::all:
    case LoopKind::exists:
    case LoopKind::map:
    case LoopKind::filter:
    case LoopKind::transform_list: emit(id, {Op::load_result, 0, kept}, 1); break;
  }
}

}  // namespace cairn::expr
