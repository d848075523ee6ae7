// The functions of the language. Each library is one file `library_NAME.cc` with one table. The checker, the evaluator
// and the catalogue read the same entry.
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

// The interface that a function uses while it runs: it spends the budget, creates values and reports faults. Everything
// that a function builds or walks is counted here, so the count is the same on every machine.
class Context {
 public:
  // Counts work that grows with the data (one step for about 16 bytes or one item). False if the budget is used up; the
  // function must then return `error()` at once.
  [[nodiscard]] bool spend_steps(std::uint64_t count);
  [[nodiscard]] bool spend_bytes(std::uint64_t count);

  // These count their own bytes. Over budget they return the error value. Functions that use the result must check
  // `failed()` first.
  Value text(std::string_view value);
  Value bytes(std::string_view value);
  Value list(Value::List items);
  // Duplicate keys, or a key that is not a bool, int, uint or string, are a fault.
  Value map(Value::Entries entries);
  Value some(Value value);
  Value opaque(Value::Kind kind, std::unique_ptr<const Opaque> value);

  // Reports a fault and answers the value to return. Only the first report of a call counts.
  Value fail(std::string_view code, std::string message);
  Value error() const;  // the value to return after a reported fault
  bool failed() const { return failed_; }

  // The compiled pattern, valid until the evaluation ends, or nullptr after a reported fault.
  const re2::RE2* regex(std::string_view pattern);

 private:
  friend class Evaluator;
  struct Session;
  Session* session_ = nullptr;
  bool failed_ = false;
};

// The arguments have the value kinds of the signature; the receiver is args[0]. The function may move from them.
using Native = Value (*)(Context& context, std::span<Value> args);

struct Overload {
  // `string.substring(int, int) -> string`: receiver, name, parameters, result. Capital letters are type parameters. A
  // prefix that is not a type is a namespace (`math.abs`). A last parameter `T...` takes one or more arguments.
  std::string_view signature;
  Native run;
  std::string_view description;     // one sentence
  std::string_view example;         // an expression
  std::string_view example_result;  // its value, written as an expression
  // A keyed function is written `list.sortBy(x, x.name)`. Its signature names the variable and the expression as `name,
  // expression`. It is called with the list and the list of the expression's results for each item.
  bool keyed = false;
};

struct Library {
  std::string_view name;
  std::span<const Overload> overloads;
};

// One parsed signature, for the checker and the evaluator.
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

// nullptr if no function has this name.
const Function* find_function(std::string_view name);
const std::vector<Function>& all_functions();  // sorted by name
// Whether expressions may use this opaque type name as a type: net.IP, ...
bool is_type_name(std::string_view name);

// Each library file has one of these; function.cc has the list.
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
