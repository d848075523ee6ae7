// Deliveries for loops, which own their thread and block.
#include "engine/deliveries.h"

namespace cairn {

// A delivery that meets a concurrent decision about its instance is delivered a second time, alone.
void Deliveries::deliver_all(std::vector<Delivery> deliveries, const Each& each) {
  struct Item {
    Delivery delivery;
    InstanceLocks::Hold lock;
    std::optional<Decision> decision;
    std::optional<Result<CommitOutcome>> answer;
  };
  std::vector<Item> items;
  std::vector<Delivery> alone;
  items.reserve(deliveries.size());
  CommitQueue::Expected expected(queue_);
  for (Delivery& delivery : deliveries) {
    InstanceLocks::Hold lock = locks_.try_enter(delivery.instance);
    if (!lock) {
      alone.push_back(std::move(delivery));
      continue;
    }
    auto decision = decide(delivery, true);
    if (!decision && decision.error().kind == DeliveryError::Kind::cut) {
      alone.push_back(std::move(delivery));
      continue;
    }
    if (!decision) {
      each(delivery, std::move(decision).error());
      continue;
    }
    // Submits at once, so that the first units are written while the others are decided.
    Item& item = items.emplace_back(Item{std::move(delivery), std::move(lock), std::move(*decision), std::nullopt});
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
      each(item.delivery, DeliveryError{DeliveryError::Kind::store, item.answer->error()});
      continue;
    }
    auto delivered = conclude(item.delivery, *item.decision, **item.answer);
    if (!delivered) {
      each(item.delivery, std::move(delivered).error());
    } else if (!*delivered) {
      item.lock = {};
      alone.push_back(std::move(item.delivery));
    } else {
      continue_and_wait((*delivered)->unfinished);
      each(item.delivery, std::move(**delivered));
    }
  }
  items.clear();
  for (Delivery& delivery : alone) {
    const Outcome outcome = wait_for<Outcome>([&](Done<Outcome> done) { deliver(delivery, std::move(done)); });
    each(delivery, outcome);
  }
}

}  // namespace cairn
