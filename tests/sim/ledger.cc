#include "ledger.h"

namespace cairn::sim {

namespace {

bool has_failed(const std::string& run, const Chronicle& chronicle) {
  const auto known = chronicle.runs().find(run);
  return known != chronicle.runs().end() && known->second.status == RunStatus::failed;
}

}  // namespace

const Json& Ledger::perform(const RunRow& run, const Json& result, const Chronicle& chronicle) {
  if (!chronicle.runs().contains(run.id.value)) {
    report_({"I-18 effects", "an effect was asked for by run " + run.id.value + ", which nobody committed"});
  }
  const auto known = key_of_run_.emplace(run.id.value, run.idempotency_key);
  if (known.first->second != run.idempotency_key) {
    report_({"I-17 effects", "run " + run.id.value + " came with two idempotency keys"});
  }
  Effect& effect = effects_[run.idempotency_key];
  if (effect.requests++ == 0) {
    effect.run = run.id.value;
    effect.result = result;
  } else if (effect.run != run.id.value && !has_failed(effect.run, chronicle) && !has_failed(run.id.value, chronicle)) {
    // Only a failed call may be repeated under its key: an operator has retried it. Its late worker may still come
    // after the retry.
    report_({"I-17 effects", "runs " + effect.run + " and " + run.id.value + " have the same idempotency key"});
  }
  return effect.result;
}

void Ledger::published(const OutboxRow& row) {
  // A repeat is allowed; an event that appears for the first time after a later one of its subject is not.
  if (published_[row.sequence]++ > 0) return;
  std::int64_t& last = last_of_subject_[row.event.subject];
  if (row.sequence < last) {
    report_({"I-19 outbox", "event " + std::to_string(row.sequence) + " of subject " + row.event.subject +
                                " was published after event " + std::to_string(last)});
  }
  last = row.sequence;
}

void Ledger::check(Store& store, const Chronicle& chronicle) {
  for (const auto& [id, run] : chronicle.runs()) {
    if (run.status != RunStatus::succeeded) continue;
    const auto row = store.find_run({id});
    if (!row || !*row) continue;  // gone with its instance
    const auto effect = effects_.find(run.idempotency_key);
    if (effect == effects_.end()) {
      report_({"I-18 effects", "run " + id + " succeeded and the world never saw it"});
    } else if (effect->second.result != (**row).result) {
      report_({"I-18 effects", "run " + id + " has another result than the world gave"});
    }
  }
  OutboxFilter filter;
  filter.unpublished = true;
  const auto left = store.list_outbox(filter, {});
  if (left && !left->items.empty()) {
    report_({"I-19 outbox", "event " + std::to_string(left->items.front().sequence) + " was never published"});
  }
}

}  // namespace cairn::sim
