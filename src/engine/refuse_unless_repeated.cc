// Refusals of a delivery.
#include "engine/delivery_attempt.h"

namespace cairn {

// A repeat of an applied request is answered as a repeat, even if the instance refuses the request now because it has
// ended or has another status or state version. The store knows whether it is a repeat. The unit that asks it names a
// message that does not exist, so it is never written.
void Deliveries::refuse_unless_repeated(const SharedAttempt& attempt, Outcome refused) {
  const Unit& cause = attempt->delivery.cause;
  if (!cause.inbox || cause.message) {
    store_.sync();  // the answer reveals a read without a commit
    return end(attempt, std::move(refused));
  }
  auto now = store_.find_snapshot(attempt->delivery.instance);
  if (!now || !*now) return end(attempt, std::move(refused));
  Unit question;
  question.inbox = cause.inbox;
  question.message = -1;
  queue_.submit(std::move(question), [this, attempt, refused = std::move(refused),
                                      after = std::make_shared<const Snapshot>(std::move(**now))](
                                         Result<CommitOutcome> answer, Unit&&) mutable {
    if (!answer || answer->kind != CommitOutcome::Kind::duplicate_signal) return end(attempt, std::move(refused));
    end(attempt, Delivered{Delivered::Kind::duplicate_signal, std::move(after), {}, true, {}});
  });
}

}  // namespace cairn
