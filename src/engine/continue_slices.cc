// Slices that a checkpoint interrupted: each continues as a delivery of its own.
#include "base/log.h"
#include "engine/delivery_attempt.h"

namespace cairn {

void Deliveries::continue_slices(std::vector<InstanceId> interrupted, std::function<void()> rested) {
  if (interrupted.empty()) return rested();
  Delivery delivery;
  delivery.instance = interrupted.back();
  delivery.what = Continued{};
  delivery.actor = context_.node;
  interrupted.pop_back();
  auto next = [this, id = delivery.instance, left = std::move(interrupted),
               rested = std::move(rested)](Outcome continued) mutable {
    // Its start was not written, or it was removed since: then nothing is left to continue.
    const bool gone = !continued && continued.error().kind == DeliveryError::Kind::no_instance;
    if (!continued && !gone) {
      log_error("slice.cut", continued.error().error, {{"instance", id.value}});
      postponed_.add_slices({id});
    } else if (continued) {
      left.insert(left.end(), continued->unfinished.begin(), continued->unfinished.end());
    }
    // Posted, because this may be a thread of the queue, and a long row of slices would exhaust its stack.
    deferred_.post([this, left = std::move(left), rested = std::move(rested)] { continue_slices(left, rested); });
  };
  try_delivery(std::make_shared<Attempt>(std::move(delivery), std::move(next)));
}

void Deliveries::continue_and_wait(std::vector<InstanceId> interrupted) {
  if (interrupted.empty()) return;
  CommitQueue::Expected expected(queue_);
  expected.one_more();
  continue_slices(std::move(interrupted), [&expected] { expected.answered(); });
  expected.wait();
}

void Deliveries::retry_postponed() {
  for (const std::string& id : postponed_.take_slices()) {
    const InstanceLocks::Hold lock = locks_.enter({id});
    continue_and_wait({{id}});
  }
}

}  // namespace cairn
