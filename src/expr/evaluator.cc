#include "expr/evaluator.h"

#include <algorithm>
#include <memory>
#include <new>

#include "expr/error_held.h"
#include "expr/operators.h"

namespace cairn::expr {

namespace {

using Kind = Value::Kind;

constexpr std::size_t inline_values = 24;
constexpr std::uint64_t call_steps = 4;  // of a function call, besides what the function counts itself
constexpr std::uint64_t key_bytes = 48;  // a key of a JSON object as a separate value

// Handles the most frequent comparisons without calling `compare`. Empty: use `compare`.
inline std::optional<bool> compare_quickly(Operator op, const Value& a, const Value& b) {
  const auto decide = [op](const auto& x, const auto& y) {
    switch (op) {
      case Operator::equal: return x == y;
      case Operator::unequal: return x != y;
      case Operator::less: return x < y;
      case Operator::less_equal: return x <= y;
      case Operator::greater: return x > y;
      default: return x >= y;
    }
  };
  if (a.kind() != b.kind()) return std::nullopt;
  if (a.is(Kind::integer)) return decide(a.as_integer(), b.as_integer());
  if (a.is(Kind::number)) return decide(a.as_number(), b.as_number());
  if (a.is(Kind::string) && (op == Operator::equal || op == Operator::unequal)) {
    const std::string_view x = a.as_text();
    const std::string_view y = b.as_text();
    if (x.size() != y.size()) return op == Operator::unequal;
    if (x.size() < 64) return (x == y) == (op == Operator::equal);
  }
  return std::nullopt;
}

// Makes room for one more item. Growth allocates, so growth is counted. The growth steps are defined here, so that they
// are the same with every standard library.
template <class Items>
bool make_room(Context& context, Items& items) {
  if (items.size() < items.capacity()) return true;
  const std::size_t room = std::max<std::size_t>(4, items.size() * 2);
  if (!context.spend_bytes(room * sizeof(typename Items::value_type))) return false;
  items.reserve(room);
  return true;
}

inline bool in_quickly(const Value& item, const Value& list, bool& found) {
  if (!item.is(Kind::string) || !list.is(Kind::list)) return false;
  const std::size_t size = list.size();
  if (size > 16) return false;
  const std::string_view text = item.as_text();
  if (text.size() > 64) return false;
  for (std::size_t i = 0; i < size; ++i) {
    const Value one = list.item(i);
    if (one.is(Kind::string) && one.as_text() == text) {
      found = true;
      return true;
    }
  }
  found = false;
  return true;
}

}  // namespace

Evaluator::Evaluator(const Code& code, Bindings bindings, const Budget& budget)
    : code_(code), bindings_(bindings), budget_(budget) {
  session_.code = &code;
  session_.steps_left = budget.steps_max;
  session_.bytes_left = budget.bytes_max;
  session_.budget = budget;
  context_.session_ = &session_;
}

Result<Value, Fault> Evaluator::run() {
  const std::size_t needed = code_.slots + code_.stack_max;
  Value result;
  if (needed <= inline_values) {
    alignas(Value) std::byte storage[inline_values * sizeof(Value)];
    result = execute(reinterpret_cast<Value*>(storage));
  } else {
    struct Free {
      void operator()(void* memory) const { ::operator delete(memory); }
    };
    const std::unique_ptr<void, Free> storage(::operator new(needed * sizeof(Value)));
    result = execute(static_cast<Value*>(storage.get()));
  }
  if (result.is(Kind::error)) return fault_of(result);
  return result;
}

std::optional<Value> Evaluator::call_early(const Function& function, std::span<Value> args, bool member) {
  const Code nothing;
  Evaluator evaluator(nothing, {}, {1000, 4096});
  Value value = call_function(evaluator.context_, function, args, member);
  if (evaluator.context_.failed_ || value.is(Kind::error)) return std::nullopt;
  return value.self_contained();
}

Fault Evaluator::fault_of(const Value& error) const {
  const auto& held = error.as_error();
  const Position place = code_.positions[held.instruction];
  return {std::string(held.code), held.message, place.offset, place.length};
}

// The frame is raw memory. Slots are constructed first, operands as they are pushed. Every exit destroys both here.
Value Evaluator::execute(Value* const slots) {
  Value* const stack = slots + code_.slots;
  Value* top = stack;  // the next free slot
  for (Value* slot = slots; slot != stack; ++slot) ::new (slot) Value();

  const Instruction* const begin = code_.instructions.data();
  const Instruction* at = begin;
  Value failure;
  Value result;

  const auto push = [&](Value&& value) { ::new (top++) Value(std::move(value)); };
  const auto pop = [&] { (--top)->~Value(); };
  const auto clear_to = [&](Value* bottom) {
    while (top != bottom) pop();
  };

  for (;;) {
    const Instruction& now = *at;
    if (session_.steps_left == 0) {
      static_cast<void>(context_.spend_steps(1));
      failure = context_.error();
      goto failed;
    }
    --session_.steps_left;
    ++at;
    switch (now.op) {
      case Op::push_constant: push(code_.constants[now.index].borrowed()); continue;
      case Op::push_variable: push(bindings_[now.index].borrowed()); continue;
      case Op::push_local: push(Value(slots[now.slot])); continue;
      case Op::store_local:
        slots[now.slot] = std::move(top[-1]);
        pop();
        continue;

      case Op::select_variable: {
        const Value& variable = bindings_[now.slot];
        if (const Json* object = variable.json(); object && object->is_object()) {
          if (const Json* member = object->find(code_.keys[now.index])) {
            push(Value::borrow(*member));
            continue;
          }
        }
        failure = select_from(context_, variable.borrowed(), code_.keys[now.index], false);
        if (failure.is(Kind::error)) goto failed;
        push(std::move(failure));
        continue;
      }
      case Op::select: {
        Value value = select_from(context_, top[-1], code_.keys[now.index], false);
        top[-1] = std::move(value);
        break;
      }
      case Op::select_optional: {
        Value value = select_from(context_, top[-1], code_.keys[now.index], true);
        top[-1] = std::move(value);
        break;
      }
      case Op::has: {
        Value value = has_member(context_, top[-1], code_.keys[now.index]);
        top[-1] = std::move(value);
        break;
      }
      case Op::index:
      case Op::index_optional: {
        Value value = index_into(context_, top[-2], top[-1], now.op == Op::index_optional);
        pop();
        top[-1] = std::move(value);
        break;
      }
      case Op::negate: {
        Value value = negate(context_, top[-1]);
        top[-1] = std::move(value);
        break;
      }
      case Op::logical_not:
        if (!top[-1].is(Kind::boolean)) {
          top[-1] =
              context_.fail("no_such_overload", "`!` needs a bool, found " + std::string(describe(top[-1].kind())));
          break;
        }
        top[-1] = Value::boolean(!top[-1].as_bool());
        continue;
      case Op::arithmetic: {
        Value value = arithmetic(context_, static_cast<Operator>(now.small), top[-2], top[-1]);
        pop();
        top[-1] = std::move(value);
        break;
      }
      case Op::compare: {
        const auto op = static_cast<Operator>(now.small);
        const auto quick = compare_quickly(op, top[-2], top[-1]);
        Value value = quick ? Value::boolean(*quick) : compare_values(context_, op, top[-2], top[-1]);
        pop();
        top[-1] = std::move(value);
        break;
      }
      case Op::compare_constant: {
        const auto op = static_cast<Operator>(now.small);
        const Value& constant = code_.constants[now.index];
        const auto quick = compare_quickly(op, top[-1], constant);
        Value value = quick ? Value::boolean(*quick) : compare_values(context_, op, top[-1], constant);
        top[-1] = std::move(value);
        break;
      }
      case Op::contains: {
        Value value = contains(context_, top[-2], top[-1]);
        pop();
        top[-1] = std::move(value);
        break;
      }
      case Op::contains_constant: {
        const Value container = code_.constants[now.index].borrowed();
        bool found = false;
        Value value =
            in_quickly(top[-1], container, found) ? Value::boolean(found) : contains(context_, top[-1], container);
        top[-1] = std::move(value);
        break;
      }

      case Op::jump: at = begin + now.index; continue;
      case Op::jump_if_false:
        if (top[-1].is(Kind::boolean) && !top[-1].as_bool()) at = begin + now.index;
        continue;
      case Op::jump_if_true:
        if (top[-1].is(Kind::boolean) && top[-1].as_bool()) at = begin + now.index;
        continue;
      case Op::all_of:
      case Op::any_of: {
        // The left side did not decide: it is neutral, an error or not a bool.
        const bool decisive = now.op == Op::any_of;
        Value right = std::move(top[-1]);
        pop();
        if (right.is(Kind::boolean) && (right.as_bool() == decisive || top[-1].is(Kind::boolean))) {
          top[-1] = std::move(right);
          continue;
        }
        if (top[-1].is(Kind::error)) break;
        const Value& wrong = top[-1].is(Kind::boolean) ? right : top[-1];
        if (wrong.is(Kind::error)) {
          top[-1] = Value(wrong);
        } else {
          top[-1] = context_.fail("no_such_overload", std::string(decisive ? "`||`" : "`&&`") + " needs bools, found " +
                                                          std::string(describe(wrong.kind())));
        }
        break;
      }
      case Op::branch_unless:
        if (!top[-1].is(Kind::boolean)) {
          top[-1] = context_.fail("no_such_overload",
                                  "a condition must be a bool, found " + std::string(describe(top[-1].kind())));
          break;
        }
        if (!top[-1].as_bool()) at = begin + now.index;
        pop();
        continue;

      case Op::make_list: {
        const std::size_t count = now.index;
        Value::List items;
        items.reserve(count);
        bool wrong = false;
        for (std::size_t i = 0; i < count && !wrong; ++i) {
          Value& item = top[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(count)];
          if (now.small != 0 && code_.item_marks[now.slot][i]) {
            if (!item.is(Kind::optional)) {
              wrong = true;
            } else if (item.has_value()) {
              items.push_back(item.optional_value());
            }
          } else {
            items.push_back(std::move(item));
          }
        }
        Value value =
            wrong ? context_.fail("no_such_overload", "`?` needs an optional") : context_.list(std::move(items));
        clear_to(top - count);
        push(std::move(value));
        break;
      }
      case Op::make_map: {
        const std::size_t count = now.index;
        Value::Entries entries;
        entries.reserve(count / 2);
        bool wrong = false;
        for (std::size_t i = 0; i < count && !wrong; i += 2) {
          Value& key = top[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(count)];
          Value& held = top[static_cast<std::ptrdiff_t>(i) + 1 - static_cast<std::ptrdiff_t>(count)];
          if (now.small != 0 && code_.item_marks[now.slot][i]) {
            if (!held.is(Kind::optional)) {
              wrong = true;
            } else if (held.has_value()) {
              entries.push_back({std::move(key), held.optional_value()});
            }
          } else {
            entries.push_back({std::move(key), std::move(held)});
          }
        }
        Value value =
            wrong ? context_.fail("no_such_overload", "`?` needs an optional") : context_.map(std::move(entries));
        clear_to(top - count);
        push(std::move(value));
        break;
      }
      case Op::call: {
        const std::size_t count = now.small;
        session_.steps_left -= std::min(call_steps, session_.steps_left);
        Value value = call_function(context_, *code_.functions[now.index], {top - count, count}, now.slot != 0);
        if (context_.failed_ && !value.is(Kind::error)) value = context_.error();
        clear_to(top - count);
        push(std::move(value));
        break;
      }
      case Op::wrap_some: {
        Value value = context_.some(std::move(top[-1]));
        top[-1] = std::move(value);
        break;
      }
      case Op::unwrap_or_none:
        if (!top[-1].is(Kind::optional)) {
          top[-1] = context_.fail("no_such_overload",
                                  "optMap needs an optional, found " + std::string(describe(top[-1].kind())));
          break;
        }
        if (top[-1].has_value()) {
          Value value = top[-1].optional_value();
          top[-1] = std::move(value);
        } else {
          at = begin + now.index;
        }
        continue;

      case Op::loop_begin:
        if (!top[-1].is(Kind::list) && !top[-1].is(Kind::map)) {
          top[-1] = context_.fail("no_such_overload", "only lists and maps can be gone through, found " +
                                                          std::string(describe(top[-1].kind())));
          break;
        }
        slots[now.slot + loop_range] = std::move(top[-1]);
        slots[now.slot + loop_position] = Value::integer(0);
        pop();
        continue;
      case Op::loop_next: {
        const Value& range = slots[now.slot + loop_range];
        const auto position = static_cast<std::size_t>(slots[now.slot + loop_position].as_integer());
        if (position >= range.size()) {
          at = begin + now.index;
          continue;
        }
        slots[now.slot + loop_position] = Value::integer(static_cast<std::int64_t>(position) + 1);
        if (range.is(Kind::list)) {
          if (now.small == 0) {
            slots[now.slot + loop_first] = range.item(position);
          } else {
            slots[now.slot + loop_first] = Value::integer(static_cast<std::int64_t>(position));
            slots[now.slot + loop_second] = range.item(position);
          }
          continue;
        }
        if (range.json() && !context_.spend_bytes(key_bytes)) {
          failure = context_.error();
          goto failed;
        }
        slots[now.slot + loop_first] = range.key(position);
        if (now.small != 0) slots[now.slot + loop_second] = range.value(position);
        continue;
      }
      case Op::accumulate_all:
      case Op::accumulate_any: {
        const bool decisive = now.op == Op::accumulate_any;
        Value& kept = slots[now.slot];
        if (top[-1].is(Kind::boolean)) {
          if (top[-1].as_bool() == decisive) {
            kept = Value::boolean(decisive);
            at = begin + now.index;
          }
        } else if (!kept.is(Kind::error)) {
          if (top[-1].is(Kind::error)) {
            kept = std::move(top[-1]);
          } else {
            kept = context_.fail("no_such_overload",
                                 "the condition must be a bool, found " + std::string(describe(top[-1].kind())));
            kept.as_error().instruction = static_cast<std::uint32_t>(&now - begin);
            context_.failed_ = false;
            if (session_.exhausted) {
              failure = kept;
              goto failed;
            }
          }
        }
        pop();
        continue;
      }
      case Op::accumulate_one:
        if (!top[-1].is(Kind::boolean)) {
          top[-1] = context_.fail("no_such_overload",
                                  "the condition must be a bool, found " + std::string(describe(top[-1].kind())));
          break;
        }
        if (top[-1].as_bool()) slots[now.slot] = Value::integer(slots[now.slot].as_integer() + 1);
        pop();
        continue;
      case Op::append:
        if (!make_room(context_, slots[now.slot].building_items())) {
          failure = context_.error();
          goto failed;
        }
        slots[now.slot].building_items().push_back(std::move(top[-1]));
        pop();
        continue;
      case Op::append_entry:
        if (!make_room(context_, slots[now.slot].building_entries())) {
          failure = context_.error();
          goto failed;
        }
        slots[now.slot].building_entries().push_back({slots[now.slot - loop_result + loop_first], std::move(top[-1])});
        pop();
        continue;
      case Op::append_entries: {
        if (!top[-1].is(Kind::map)) {
          top[-1] = context_.fail("no_such_overload",
                                  "transformMapEntry needs a map, found " + std::string(describe(top[-1].kind())));
          break;
        }
        const std::size_t count = top[-1].size();
        if (!context_.spend_bytes(count * sizeof(Value::Entry)) || !context_.spend_steps(count)) {
          failure = context_.error();
          goto failed;
        }
        for (std::size_t i = 0; i < count; ++i) {
          slots[now.slot].building_entries().push_back({top[-1].key(i), top[-1].value(i)});
        }
        pop();
        continue;
      }
      case Op::begin_list: slots[now.slot] = Value::list({}); continue;
      case Op::begin_map: slots[now.slot] = Value::map({}); continue;
      case Op::load_result:
        push(std::move(slots[now.slot]));
        if (top[-1].is(Kind::error)) break;
        continue;
      case Op::finish_one: push(Value::boolean(slots[now.slot].as_integer() == 1)); continue;
      case Op::finish_map: {
        Value::Entries entries = std::move(slots[now.slot].building_entries());
        slots[now.slot] = Value();
        push(context_.map(std::move(entries)));
        break;
      }
      case Op::raise: {
        const RaisedFault& fault = code_.faults[now.index];
        push(context_.fail(fault.code, fault.message));
        break;
      }
      case Op::done: result = std::move(top[-1]); goto finished;
    }

    // Instructions that can fail arrive here with their result on the stack.
    if (!top[-1].is(Kind::error)) [[likely]] {
      continue;
    }
    failure = std::move(top[-1]);

  failed:
    const auto place = static_cast<std::uint32_t>(at - begin) - 1;
    if (context_.failed_) {
      failure.as_error().instruction = place;
      context_.failed_ = false;
    }
    if (session_.exhausted) {
      result = std::move(failure);
      goto finished;
    }
    // Writing the message and finding the handler cost more than an instruction.
    const std::uint64_t toll = 32 + code_.handlers.size() / 16;
    session_.steps_left -= std::min(toll, session_.steps_left);
    const Handler* handler = nullptr;
    for (const Handler& candidate : code_.handlers) {
      if (place >= candidate.begin && place < candidate.end) {
        handler = &candidate;
        break;
      }
    }
    if (!handler) {
      result = std::move(failure);
      goto finished;
    }
    clear_to(stack + handler->stack);
    push(std::move(failure));
    at = begin + handler->target;
  }

finished:
  clear_to(stack);
  for (Value* slot = slots; slot != stack; ++slot) slot->~Value();
  return result;
}

}  // namespace cairn::expr
