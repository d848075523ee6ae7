// The first line is JSON for the names, the rest an expression: evaluating ends within its budget,
// gives the same answer twice, and a value that becomes JSON is one that JSON can hold.
#include <cstdint>
#include <string_view>

#include "expr/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn;
  using namespace cairn::expr;
  static const Environment environment{{{"input", Type::dyn()}, {"state", Type::dyn()}, {"now", Type::timestamp()}},
                                       true};
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\n');
  if (end == std::string_view::npos) return 0;
  const auto context = parse_json(all.substr(0, end));
  if (!context) return 0;
  const auto compiled = compile(all.substr(end + 1), environment);
  if (!compiled) return 0;
  const Value values[] = {Value::borrow((*context)["input"]), Value::borrow((*context)["state"]),
                          Value::timestamp({1'700'000'000, 0})};
  const Budget budget{20'000, 1u << 20};
  const auto first = compiled->evaluate(values, budget);
  const auto second = compiled->evaluate(values, budget);
  CAIRN_ASSERT(first.has_value() == second.has_value());
  if (!first) {
    CAIRN_ASSERT(first.error().code == second.error().code && first.error().message == second.error().message);
    CAIRN_ASSERT(first.error().offset <= compiled->text().size());
    return 0;
  }
  CAIRN_ASSERT(!first->borrows());
  if (const auto json = to_json(*first)) {
    // Nested deeper than JSON may be, it is still a value; everything else reads back the same.
    const std::string text = write_json(*json);
    if (const auto again = parse_json(text, {64u << 20, 600})) {
      CAIRN_ASSERT(*again == *json);
    } else {
      CAIRN_ASSERT(again.error().code == ErrorCode::limit);
    }
  }
  return 0;
}
