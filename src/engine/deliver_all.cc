// Deliveries for loops, which own their thread and wait.
#include "engine/deliveries.h"

namespace cairn {

// A delivery that meets another decision about its instance is delivered again by itself.
void Deliveries::deliver_all(std::vector<Delivery> deliveries, const Told& told) {
  struct Item {
    Delivery delivery;
    Lanes::Hold lane;
    std::optional<Decision> decision;
    std::optional<Result<CommitOutcome>> answer;
  };
  std::vector<Item> items;
  std::vector<Delivery> alone;
  items.reserve(deliveries.size());
  CommitQueue::Expected expected(queue_);
  for (Delivery& delivery : deliveries) {
    Lanes::Hold lane = lanes_.try_enter(delivery.instance);
    if (!lane) {
      alone.push_back(std::move(delivery));
      continue;
    }
    auto decision = decide(delivery, true);
    if (!decision && decision.error().kind == DeliveryError::Kind::cut) {
      alone.push_back(std::move(delivery));
      continue;
    }
    if (!decision) {
      told(delivery, std::move(decision).error());
      continue;
    }
    // Submitted at once, so that the first are written while the others are decided.
    Item& item = items.emplace_back(Item{std::move(delivery), std::move(lane), std::move(*decision), std::nullopt});
    expected.one_more();
    queue_.submit(std::move(item.decision->slice.unit), [&item, &expected](Result<CommitOutcome> outcome, Unit&& unit) {
      item.decision->slice.give_back(std::move(unit));
      item.answer = std::move(outcome);
      expected.answered();
    });
  }
  expected.wait();
  for (Item& item : items) {
    if (!*item.answer) {
      postponed_.add_slices(item.decision->slice.unfinished());
      told(item.delivery, DeliveryError{DeliveryError::Kind::store, item.answer->error()});
      continue;
    }
    auto delivered = conclude(item.delivery, *item.decision, **item.answer);
    if (!delivered) {
      told(item.delivery, std::move(delivered).error());
    } else if (!*delivered) {
      item.lane = {};
      alone.push_back(std::move(item.delivery));
    } else {
      continue_and_wait((*delivered)->unfinished);
      told(item.delivery, std::move(**delivered));
    }
  }
  items.clear();
  for (Delivery& delivery : alone) {
    const Outcome outcome = wait_for<Outcome>([&](Done done) { deliver(delivery, std::move(done)); });
    told(delivery, outcome);
  }
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
    const Lanes::Hold lane = lanes_.enter({id});
    continue_and_wait({{id}});
  }
}

}  // namespace cairn
