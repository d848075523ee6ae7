// Any bytes as the text of an expression: it compiles or there are faults that point into the text.
#include <cstdint>
#include <string_view>

#include "expr/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn::expr;
  static const Environment environment = [] {
    Environment names{{{"input", Type::dyn()}, {"state", Type::dyn()}, {"now", Type::timestamp()}}, true};
    names.variables.push_back(
        {"form", Type::object({{"name", Type::string(), true}, {"age", Type::numeric(), false}}, true)});
    return names;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto compiled = compile(text, environment);
  if (compiled) {
    CAIRN_ASSERT(compiled->text() == text);
    static_cast<void>(compiled->type().text());
    static_cast<void>(compiled->functions());
    static_cast<void>(compiled->secrets());
    for (const Reference& reference : compiled->references()) CAIRN_ASSERT(reference.offset < text.size());
  } else {
    CAIRN_ASSERT(!compiled.error().empty());
    for (const Fault& fault : compiled.error()) {
      CAIRN_ASSERT(!fault.code.empty() && !fault.message.empty() && fault.offset <= text.size());
    }
  }
  return 0;
}
