// Compiled expressions: flat instructions over a frame of slots and a stack of operands.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "expr/function.h"
#include "expr/type.h"
#include "expr/value.h"

namespace cairn::expr {

enum class Op : std::uint8_t {
  push_constant,    // index
  push_variable,    // index of the binding
  push_local,       // slot
  store_local,      // slot; pops
  select,           // index of the key
  select_variable,  // small: the binding, index of the key: push_variable and select combined
  select_optional,  // index of the key
  has,              // index of the key
  index,
  index_optional,
  negate,
  logical_not,
  arithmetic,         // small: Operator
  compare,            // small: Operator
  compare_constant,   // small: Operator, index of the constant on the right
  contains,           // in
  contains_constant,  // index of the constant list or map on the right
  jump,               // target
  jump_if_false,      // target; does not pop
  jump_if_true,       // target; does not pop
  all_of,             // pops two; false absorbs errors
  any_of,             // pops two; true absorbs errors
  branch_unless,      // target; pops a bool
  make_list,          // small 1: some are optional, index into item_marks; count in `index`
  make_map,           // the same
  call,               // small: arguments, index of the function
  wrap_some,
  unwrap_or_none,  // target; jumps if the optional is absent, otherwise replaces it by its value
  loop_begin,      // slot; pops the range
  loop_next,       // slot, target at the end; small 1: two variables
  accumulate_all,  // slot, target; pops
  accumulate_any,  // slot, target; pops
  accumulate_one,  // slot; pops
  append,          // slot; pops
  append_entry,    // slot; pops; the key is the first loop variable
  append_entries,  // slot; pops a map
  begin_list,      // slot
  begin_map,       // slot
  load_result,     // slot; moves; raises an error that is held there
  finish_one,      // slot
  finish_map,      // slot
  raise,           // index of the fault
  done,
};

struct Instruction {
  Op op = Op::done;
  std::uint8_t small = 0;
  std::uint16_t slot = 0;
  std::uint32_t index = 0;  // also a target
};

// Slots of a loop, relative to its base.
inline constexpr std::uint16_t loop_range = 0;
inline constexpr std::uint16_t loop_position = 1;
inline constexpr std::uint16_t loop_first = 2;
inline constexpr std::uint16_t loop_second = 3;
inline constexpr std::uint16_t loop_result = 4;
inline constexpr std::uint16_t loop_slots = 5;

// Errors inside [begin, end) become a value on the stack at `target`.
struct Handler {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t target = 0;
  std::uint32_t stack = 0;  // operands below
};

struct Position {
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

struct RaisedFault {
  std::string code;
  std::string message;
};

struct Regex;  // regex.h

struct Code {
  std::string text;
  std::vector<Instruction> instructions;
  std::vector<Position> positions;     // by instruction
  std::vector<Value> constants;        // own their content; the stack borrows them
  std::vector<std::string_view> keys;  // views of constants
  std::vector<std::vector<bool>> item_marks;
  std::vector<Handler> handlers;  // inner ones first
  std::vector<const Function*> functions;
  std::vector<RaisedFault> faults;
  std::vector<std::shared_ptr<const Regex>> regexes;  // of literal patterns
  std::uint32_t slots = 0;
  std::uint32_t stack_max = 0;
  Type type;
  bool reads_variables = false;
  std::vector<std::string> variables;  // names of the environment, for references()
};

}  // namespace cairn::expr
