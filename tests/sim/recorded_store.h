// Reports the actual writes of a store to a recorder.
#pragma once

#include "recorder.h"
#include "stores/forwarding_store.h"

namespace cairn::sim {

class RecordedStore final : public ForwardingStore {
 public:
  RecordedStore(Store& behind, Recorder& recorder) : ForwardingStore(behind), recorder_(recorder) {}

  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    auto outcomes = behind_.commit(units);
    if (!outcomes) return outcomes;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if ((*outcomes)[i].kind == CommitOutcome::Kind::done) recorder_.committed(units[i], behind_.now());
    }
    return outcomes;
  }
  Result<std::vector<Message>> take_messages(std::size_t max, Duration hold) override {
    auto messages = behind_.take_messages(max, hold);
    if (messages) {
      for (const Message& message : *messages) recorder_.took(message);
    }
    return messages;
  }
  Result<RunChanged> change_run(const RunChange& change) override {
    auto changed = behind_.change_run(change);
    if (changed) recorder_.retried(change, *changed, behind_.now());
    return changed;
  }

 private:
  Recorder& recorder_;
};

}  // namespace cairn::sim
