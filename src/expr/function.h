// The functions of the language. One library is one file `library_NAME.cc` with one table; the
// checker, the evaluator and the catalogue all read the same entry.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/type.h"
#include "expr/value.h"

namespace re2 {
class RE2;
}

namespace cairn::expr {

// What a function may use while it runs: it spends the budget, makes values and reports faults.
// Everything that a function builds or walks is counted here, so that the count is the same on
// every machine.
class Context {
 public:
  // Counts work that grows with the data (one step for some 16 bytes or one item). False: the
  // budget is used up, and the function returns `error()` at once.
  [[nodiscard]] bool spend_steps(std::uint64_t count);
  [[nodiscard]] bool spend_bytes(std::uint64_t count);

  // These count their own bytes. Over budget they give the error value; functions that build on
  // the result ask `failed()` first.
  Value text(std::string_view value);
  Value bytes(std::string_view value);
  Value list(Value::List items);
  // Two equal keys, or a key that is no bool, int, uint or string, are a fault.
  Value map(Value::Entries entries);
  Value some(Value value);
  Value opaque(Value::Kind kind, std::unique_ptr<const Opaque> value);

  // Reports a fault; the value to return. The first report of a call counts.
  Value fail(std::string_view code, std::string message);
  Value error() const;  // the value to return after something reported a fault
  bool failed() const { return failed_; }

  // The compiled pattern, good until the evaluation ends, or nullptr after a fault was reported.
  const re2::RE2* regex(std::string_view pattern);

 private:
  friend class Evaluator;
  struct Session;
  Session* session_ = nullptr;
  bool failed_ = false;
};

// Arguments come by value kind as the signature says; the receiver is args[0]. They may be moved from.
using Native = Value (*)(Context& context, std::span<Value> args);

struct Overload {
  // `string.substring(int, int) -> string`: receiver, name, parameters, result. Capital letters
  // are type parameters; a namespace (`math.abs`) is told from a receiver by not being a type.
  // A last parameter `T...` takes one or more arguments.
  std::string_view signature;
  Native run;
  std::string_view description;     // one sentence
  std::string_view example;         // an expression
  std::string_view example_result;  // its value, written as an expression
  // A keyed function is written `list.sortBy(x, x.name)` and its signature names the variable and
  // the expression as `name, expression`. It is called with the list and the list of what the
  // expression gave for each item.
  bool keyed = false;
};

struct Library {
  std::string_view name;
  std::span<const Overload> overloads;
};

// One signature, ready for checker and evaluator.
struct Signature {
  const Overload* overload = nullptr;
  std::string_view library;
  std::string name;       // `substring`, `math.abs`
  bool member = false;    // has a receiver, which is parameters[0]
  bool repeated = false;  // the last parameter takes one or more
  std::vector<Type> parameters;
  std::vector<std::uint32_t> accepts;  // by parameter: a bit for each Value::Kind
  Type result;
  std::uint32_t variable_count = 0;
};

// All overloads of one name.
struct Function {
  std::string name;
  std::vector<Signature> signatures;
  bool keyed() const {
    return !signatures.empty() && signatures.front().overload && signatures.front().overload->keyed;
  }
};

// nullptr when there is no function of that name.
const Function* find_function(std::string_view name);
const std::vector<Function>& all_functions();  // sorted by name
// Opaque type names that may stand in expressions as types: net.IP, ...
bool is_type_name(std::string_view name);

// The list of libraries lives in function.cc; each library file has one of these.
Library library_standard();
Library library_time();
Library library_strings();
Library library_math();
Library library_lists();
Library library_sets();
Library library_encoders();
Library library_optionals();
Library library_regex();
Library library_network();
Library library_decimal();
Library library_dates();
Library library_aggregate();
Library library_collections();
Library library_general();
Library library_text();
Library library_hash();

}  // namespace cairn::expr
