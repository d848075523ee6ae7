#include "interpreter/steps.h"

namespace cairn {

void begin(Turn& turn, const EmitStep& emit) {
  CAIRN_OR_FAIL(turn, std::string type, turn.text(emit.type, "type"));
  CAIRN_OR_FAIL(turn, const Json subject, turn.value(emit.subject, "subject", {}));
  CAIRN_OR_FAIL(turn, Json data, turn.value(emit.data, "data", {}));
  if (subject.is_array() || subject.is_object()) {
    return turn.fail(
        turn.failure(FailureClass::expression, "invalid_argument", "subject must be text (" + turn.step.path + ")"));
  }
  OutboxEvent event;
  event.id.value = derived_uuid(turn.machine.snapshot().instance.value, "event", turn.machine.next_number());
  event.type = std::move(type);
  if (subject.is_string()) {
    event.subject = subject.as_string();
  } else if (!subject.is_null()) {
    event.subject = write_json(subject);
  }
  event.data = std::move(data);
  turn.machine.out().outbox.push_back(std::move(event));
  turn.end();
}

}  // namespace cairn
