// A start: the same unit of work as a delivery (deliver.cc), without a snapshot to load.
#include "engine/caller_context.h"
#include "engine/delivery_attempt.h"
#include "engine/try_here.h"

namespace cairn {

// One start until it is answered.
struct Deliveries::StartAttempt {
  StartAttempt(Start given, Done<Outcome> told) : start(std::move(given)), done(std::move(told)) {}

  Start start;
  Done<Outcome> done;
  std::optional<CallerContext> caller;
  std::optional<Slice> slice;
};

void Deliveries::start(Start start, Done<Outcome> done) {
  if (auto refused = overload()) return done(DeliveryError{DeliveryError::Kind::store, std::move(*refused)});
  const auto attempt = std::make_shared<StartAttempt>(std::move(start), std::move(done));
  auto prepared = try_here([&] { return prepare_start(*attempt); });
  if (prepared) return commit_start(attempt, std::move(*prepared));
  deferred_.post([this, attempt] { commit_start(attempt, prepare_start(*attempt)); });
}

Result<std::optional<Delivered>, DeliveryError> Deliveries::prepare_start(StartAttempt& attempt) {
  const auto refused = [](Error error) { return DeliveryError{DeliveryError::Kind::refused, std::move(error)}; };
  std::optional<IdempotencyKey> key = attempt.start.key;
  if (key) {
    if (auto may = MemoryOnly::may_call_store(); !may) return refused(std::move(may).error());
    // First of all: a repeat is answered even if its definition can no longer be started.
    auto known = store_.find_key(key->scope, key->key);
    if (!known) return refused(std::move(known).error());
    if (*known) {
      const bool same_request = (*known)->request_hash == key->request_hash;
      return std::optional(
          Delivered{Delivered::Kind::duplicate_key, nullptr, std::move((*known)->answer), same_request, {}});
    }
  }
  auto program = registry_.find(attempt.start.definition, attempt.start.version);
  if (!program) return refused(std::move(program).error());
  Setting with = setting(**program);
  if (!with.known) return refused(definitions_unreadable());
  Slice& slice = attempt.slice.emplace(registry_, std::move(with), store_.now(), attempt.start.actor, context_.node);
  if (auto started = slice.start(**program, attempt.start.event); !started) return refused(std::move(started).error());
  if (key) {
    key->answer = Json::object(
        {{"instance", attempt.start.event.instance.value}, {"started_ms", slice.last().started_at.unix_ms()}});
    // The answer to the first request, unless its slice continues at once.
    if (slice.unfinished().empty()) {
      key->answer.set("state_version", static_cast<std::int64_t>(slice.last().state_version));
      key->answer.set("status", to_string(slice.last().status));
    }
    slice.unit.key = std::move(key);
  }
  auto promise = leasing_.lease_new_runs(slice.unit);
  if (!promise) return refused(std::move(promise).error());
  slice.promise = std::move(*promise);
  return std::optional<Delivered>();
}

void Deliveries::commit_start(const std::shared_ptr<StartAttempt>& attempt,
                              Result<std::optional<Delivered>, DeliveryError> prepared) {
  if (!prepared) return attempt->done(std::move(prepared).error());
  if (*prepared) return attempt->done(std::move(**prepared));
  attempt->caller.emplace();
  Unit unit = std::move(attempt->slice->unit);
  unit.audit = attempt->caller->audit_rows();
  queue_.submit(std::move(unit), [this, attempt](Result<CommitOutcome> written, Unit&& back) {
    attempt->caller->note(written);
    attempt->slice->give_back(std::move(back));
    Outcome outcome = attempt->caller->act([&] { return finish_start(*attempt, std::move(written)); });
    attempt->slice.reset();
    attempt->caller->release();
    if (!outcome || outcome->unfinished.empty()) return attempt->done(std::move(outcome));
    deferred_.post([this, attempt, interrupted = std::move(outcome->unfinished)] {
      continue_slices(interrupted,
                      [this, attempt] { attempt->done(started_and_rested(attempt->start.event.instance)); });
    });
  });
}

Deliveries::Outcome Deliveries::finish_start(StartAttempt& attempt, Result<CommitOutcome> written) {
  Slice& slice = *attempt.slice;
  if (!written) {
    postponed_.add_slices(slice.unfinished());  // the store may have written it despite the error
    return DeliveryError{DeliveryError::Kind::store, std::move(written).error()};
  }
  switch (written->kind) {
    case CommitOutcome::Kind::done: {
      std::vector<InstanceId> unfinished = slice.unfinished();
      return Delivered{Delivered::Kind::applied, committed(slice, *written), {}, true, std::move(unfinished)};
    }
    case CommitOutcome::Kind::duplicate_key:
      return Delivered{Delivered::Kind::duplicate_key, nullptr, std::move(written->answer), written->same_request, {}};
    case CommitOutcome::Kind::stale:
      return DeliveryError{
          DeliveryError::Kind::refused,
          {ErrorCode::conflict, "an instance with the id " + attempt.start.event.instance.value + " exists already"}};
    case CommitOutcome::Kind::duplicate_signal:
    case CommitOutcome::Kind::failed: break;
  }
  return DeliveryError{DeliveryError::Kind::refused, std::move(written->error)};
}

Deliveries::Outcome Deliveries::started_and_rested(const InstanceId& id) {
  auto loaded = load(id);
  if (!loaded) return std::move(loaded).error();
  return Delivered{Delivered::Kind::applied, std::move(*loaded), {}, true, {}};
}

}  // namespace cairn
