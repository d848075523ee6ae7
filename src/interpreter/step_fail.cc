#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const FailStep& decision) {
  std::string message = decision.code;
  if (decision.message) {
    CAIRN_OR_FAIL(turn, const Json value, turn.value(*decision.message, "message"));
    message = value.is_string() ? std::string(value.as_string()) : write_json(value);
  }
  CAIRN_OR_FAIL(turn, Json details, turn.value(decision.details, "details", {}));
  turn.fail(turn.failure(FailureClass::business, decision.code, std::move(message), std::move(details)));
}

}  // namespace cairn
