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
  CAIRN_OR_FAIL(turn, const Json found_by, turn.machine.bounded_key(&turn.step, subject, "subject"));
  OutboxEvent event;
  event.id.value = derived_uuid(turn.machine.snapshot().instance.value, "event", turn.machine.next_number());
  event.type = std::move(type);
  if (found_by.is_string()) {
    event.subject = found_by.as_string();
  } else if (!found_by.is_null()) {
    event.subject = write_json(found_by);
  }
  event.data = std::move(data);
  turn.machine.out().outbox.push_back(std::move(event));
  turn.end();
}

}  // namespace cairn
