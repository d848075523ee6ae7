// A delivery: load, advance, commit, conclude. No thread waits: each answer of the store starts the next step.
#include "engine/delivery_attempt.h"
#include "engine/describe_change.h"
#include "engine/instance_incidents.h"
#include "engine/pass_signal_on.h"
#include "engine/task_fields.h"
#include "engine/try_here.h"
#include "store/unsynced_read.h"

namespace cairn {

void Deliveries::deliver(Delivery delivery, Done<Outcome> done) {
  if (auto refused = overload()) return done(DeliveryError{DeliveryError::Kind::store, std::move(*refused)});
  auto attempt = std::make_shared<Attempt>(std::move(delivery), std::move(done));
  attempt->caller.emplace();
  locks_.enter(attempt->delivery.instance, [this, attempt](InstanceLocks::Hold lock) {
    attempt->lock = std::move(lock);
    try_delivery(attempt);
  });
}

namespace {

// Whether the instance refuses the event in its current state.
bool is_refusal(const DeliveryError& error) {
  return error.kind == DeliveryError::Kind::refused || error.kind == DeliveryError::Kind::moved;
}

}  // namespace

void Deliveries::try_delivery(const SharedAttempt& attempt) {
  auto tried = try_here([&] { return decide(attempt->delivery, attempt->number == 0); });
  if (!tried) return deferred_.post([this, attempt] { try_delivery(attempt); });
  Result<Decision, DeliveryError>& decision = *tried;
  if (!decision && decision.error().kind == DeliveryError::Kind::cut && !attempt->continued) {
    attempt->continued = true;
    ++attempt->number;
    return continue_slices({attempt->delivery.instance}, [this, attempt] { try_delivery(attempt); });
  }
  const Unit& cause = attempt->delivery.cause;
  if (!decision && is_refusal(decision.error())) {
    return refuse_unless_repeated(attempt, std::move(decision).error());
  }
  if (!decision) {
    store_.sync();  // the answer reveals a read without a commit
    return end(attempt, std::move(decision).error());
  }
  if (decision->slice.stale() && !cause.message && !cause.timer && !cause.run) {
    return refuse_unless_repeated(attempt, Delivered{Delivered::Kind::stale, decision->before, {}, true, {}});
  }
  attempt->decision.emplace(std::move(*decision));
  commit(attempt);
}

namespace {

// Whether an event may come between the commits of one slice. Any other event would start a second slice in the middle
// of the first, and `now` would change between its steps (rule S22).
bool may_interrupt(const EventBody& what) {
  return std::holds_alternative<Continued>(what) || std::holds_alternative<CancelRequested>(what) ||
         std::holds_alternative<SuspendRequested>(what) || std::holds_alternative<StateEdited>(what) ||
         std::holds_alternative<SignalDiscarded>(what);
}

DeliveryError store_error(Error error) { return {DeliveryError::Kind::store, std::move(error)}; }

}  // namespace

Result<SharedSnapshot, DeliveryError> Deliveries::load(const InstanceId& id) {
  if (auto may = MemoryOnly::may_call_store(); !may) return store_error(std::move(may).error());
  auto found = store_.find_snapshot(id);
  if (!found) {
    // Unsupported: a newer node wrote the snapshot. That node delivers the event, or the grace period ends.
    const DeliveryError::Kind kind = found.error().code == ErrorCode::corrupt       ? DeliveryError::Kind::unreadable
                                     : found.error().code == ErrorCode::unsupported ? DeliveryError::Kind::no_definition
                                                                                    : DeliveryError::Kind::store;
    return DeliveryError{kind, std::move(found).error()};
  }
  if (!*found) {
    return DeliveryError{DeliveryError::Kind::no_instance, {ErrorCode::not_found, "no instance " + id.value}};
  }
  return SharedSnapshot(std::make_shared<const Snapshot>(std::move(**found)));
}

// A refusal is never based on a cached snapshot: it is decided again on the stored one.
Result<Decision, DeliveryError> Deliveries::decide(const Delivery& delivery, bool may_use_cache) {
  const UnsyncedRead unsynced;
  const SharedSnapshot cached = may_use_cache ? cache_.find(delivery.instance) : nullptr;
  const bool from_cache = cached != nullptr;
  SharedSnapshot before = cached;
  if (!from_cache) {
    auto loaded = load(delivery.instance);
    if (!loaded) return std::move(loaded).error();
    before = std::move(*loaded);
  }
  if (delivery.state_version && *delivery.state_version != before->state_version) {
    if (from_cache) return decide(delivery, false);
    return DeliveryError{DeliveryError::Kind::moved,
                         {ErrorCode::conflict, "stale_version: instance " + delivery.instance.value +
                                                   " is at state version " + std::to_string(before->state_version)}};
  }
  if (before->status == Status::running && !may_interrupt(delivery.what)) {
    if (from_cache) return decide(delivery, false);
    return DeliveryError{
        DeliveryError::Kind::cut,
        {ErrorCode::unavailable, "instance " + delivery.instance.value + " is in the middle of a slice"}};
  }
  auto program = registry_.pinned(before->program);
  if (!program) {
    const bool missing = program.error().code == ErrorCode::not_found;
    return DeliveryError{missing ? DeliveryError::Kind::no_definition : DeliveryError::Kind::store, program.error(),
                         before->program.name};
  }
  auto what = delivery.what;
  if (auto* timer = std::get_if<TimerFired>(&what)) {
    if (auto may = MemoryOnly::may_call_store(); !may) return store_error(std::move(may).error());
    auto fields = fields_beside(store_, *before, timer->token);
    if (!fields) return store_error(std::move(fields).error());
    timer->task_fields = std::move(*fields);
  }
  Setting with = setting(**program);
  if (!with.known) return store_error(definitions_unreadable());
  Decision decision{Slice(registry_, std::move(with), store_.now(), delivery.actor, context_.node), before, from_cache};
  if (auto applied = decision.slice.apply(**program, *before, std::move(what)); !applied) {
    if (from_cache) return decide(delivery, false);
    const bool unreadable = applied.error().code == ErrorCode::corrupt;
    return DeliveryError{unreadable ? DeliveryError::Kind::unreadable : DeliveryError::Kind::refused,
                         std::move(applied).error()};
  }
  if (decision.slice.stale() && from_cache) return decide(delivery, false);
  take_cause(delivery, decision);
  auto promise = leasing_.lease_new_runs(decision.slice.unit);
  if (!promise) return store_error(std::move(promise).error());
  decision.slice.promise = std::move(*promise);
  return decision;
}

// The commit that applies the event also removes, ends or stores its cause.
void Deliveries::take_cause(const Delivery& delivery, Decision& decision) {
  Unit& unit = decision.slice.unit;
  const Unit& cause = delivery.cause;
  unit.message = cause.message;
  unit.timer = cause.timer;
  unit.run = cause.run;
  unit.inbox = cause.inbox;
  unit.task = cause.task;
  unit.key = cause.key;
  unit.dead_letters.insert(unit.dead_letters.end(), cause.dead_letters.begin(), cause.dead_letters.end());
  unit.incidents = cause.incidents;
  if (delivery.cancels && !decision.slice.stale()) unit.advances.front().runs_cancelled.push_back(*delivery.cancels);
  if (delivery.message && delivery.message->kind == Message::Kind::signal) pass_signal_on(decision, *delivery.message);
  if (unit.key && unit.key->answer.is_null()) {
    const Snapshot& after = decision.slice.last();
    unit.key->answer = Json::object({{"instance", after.instance.value},
                                     {"started_ms", after.started_at.unix_ms()},
                                     {"state_version", static_cast<std::int64_t>(after.state_version)},
                                     {"status", to_string(after.status)}});
  }
}

void Deliveries::commit(const SharedAttempt& attempt) {
  Unit unit = std::move(attempt->decision->slice.unit);
  if (attempt->caller) {
    unit.audit = attempt->caller->audit_rows();
    describe_change(attempt->delivery.what, *attempt->decision->before, unit);
  }
  queue_.submit(std::move(unit), [this, attempt](Result<CommitOutcome> written, Unit&& back) {
    if (attempt->caller) attempt->caller->note(written);
    attempt->decision->slice.give_back(std::move(back));
    if (!written) {
      postponed_.add_slices(attempt->decision->slice.unfinished());  // the store may have written it despite the error
      return end(attempt, store_error(std::move(written).error()));
    }
    const bool reads = written->kind == CommitOutcome::Kind::stale ||
                       (written->kind == CommitOutcome::Kind::duplicate_signal && !attempt->delivery.cause.message);
    if (!reads) return conclude(attempt, *written);
    // The instance must be read again.
    deferred_.post([this, attempt, outcome = std::move(*written)]() mutable { conclude(attempt, outcome); });
  });
}

void Deliveries::conclude(const SharedAttempt& attempt, CommitOutcome& outcome) {
  const auto concluded = [&] { return conclude(attempt->delivery, *attempt->decision, outcome); };
  auto delivered = attempt->caller ? attempt->caller->act(concluded) : concluded();
  if (!delivered) return end(attempt, std::move(delivered).error());
  if (*delivered) return end(attempt, std::move(**delivered));
  if (++attempt->number < attempts_max) return try_delivery(attempt);
  end(attempt,
      store_error({ErrorCode::conflict, "instance " + attempt->delivery.instance.value + " kept changing; try again"}));
}

Result<std::optional<Delivered>, DeliveryError> Deliveries::conclude(const Delivery& delivery, Decision& decision,
                                                                     CommitOutcome& outcome) {
  Delivered delivered;
  delivered.after = decision.before;
  switch (outcome.kind) {
    case CommitOutcome::Kind::done:
      delivered.kind = decision.slice.stale() ? Delivered::Kind::stale : Delivered::Kind::applied;
      delivered.unfinished = decision.slice.unfinished();
      if (SharedSnapshot last = committed(decision.slice, outcome)) delivered.after = std::move(last);
      return std::optional(std::move(delivered));
    case CommitOutcome::Kind::duplicate_signal:
      delivered.kind = Delivered::Kind::duplicate_signal;
      if (!delivery.cause.message) {
        // The answer shows the current instance. The decision may be based on an older, cached snapshot.
        auto now = store_.find_snapshot(delivery.instance);
        if (!now) return store_error(std::move(now).error());
        if (*now) delivered.after = std::make_shared<const Snapshot>(std::move(**now));
      }
      return std::optional(std::move(delivered));
    case CommitOutcome::Kind::duplicate_key:
      delivered.kind = Delivered::Kind::duplicate_key;
      delivered.answer = outcome.answer;
      delivered.same_request = outcome.same_request;
      return std::optional(std::move(delivered));
    case CommitOutcome::Kind::failed:
      cache_.drop(delivery.instance);
      return DeliveryError{DeliveryError::Kind::unwritable, outcome.error};
    case CommitOutcome::Kind::stale: break;
  }
  cache_.drop(delivery.instance);
  auto now = store_.find_snapshot(delivery.instance);
  if (!now) return store_error(std::move(now).error());
  if (*now && (**now).state_version == decision.before->state_version &&
      (**now).started_at == decision.before->started_at) {
    // The instance has not changed, so the cause is gone.
    delivered.kind = Delivered::Kind::stale;
    return std::optional(std::move(delivered));
  }
  return std::optional<Delivered>();
}

SharedSnapshot Deliveries::committed(Slice& slice, CommitOutcome& outcome) {
  report_incidents(slice.unit);
  context_.counts.add(slice.take_counts());
  listeners_.tell_committed(slice);
  for (const Advance& advance : slice.unit.advances) context_.signals_expired += advance.signals_expired.size();
  SharedSnapshot last;
  for (const auto& [id, reached] : slice.instances()) {
    auto snapshot = std::make_shared<const Snapshot>(slice.take_latest(reached));
    if (id == slice.first()) last = snapshot;
    if (is_final(snapshot->status)) {
      cache_.drop(snapshot->instance);
    } else {
      cache_.put(snapshot);
    }
    listeners_.tell_changed(*snapshot);
  }
  leasing_.hand_over(std::move(outcome.leased), slice.promise.get());
  return last;
}

void Deliveries::end(const SharedAttempt& attempt, Outcome outcome) {
  if (attempt->caller) attempt->caller->release();
  attempt->decision.reset();
  // The holder of the lock continues an interrupted slice before the next delivery is decided.
  if (!attempt->lock || !outcome || outcome->unfinished.empty()) {
    attempt->lock = {};  // `done` may make a request about the same instance
    return attempt->done(std::move(outcome));
  }
  deferred_.post([this, attempt, delivered = std::move(*outcome)]() mutable {
    auto interrupted = delivered.unfinished;
    continue_slices(std::move(interrupted), [this, attempt, delivered = std::move(delivered)]() mutable {
      if (const auto rested = cache_.find(attempt->delivery.instance)) delivered.after = rested;
      attempt->lock = {};
      attempt->done(std::move(delivered));
    });
  });
}

}  // namespace cairn
