// Requests on their way with nobody waiting for them on a thread: each commit's answer takes the next step. Who does
// want to wait asks here and waits for the answer.
#include "base/log.h"
#include "engine/coordinator.h"
#include "store/audit_scope.h"
#include "store/store_calls.h"

namespace cairn {

namespace {

// What `decide` gives. Nothing when this thread may not call the store and that was needed, or there is an error to
// tell: a thread that may call it decides again.
template <class Decide>
auto try_here(const Decide& decide) -> std::optional<decltype(decide())> {
  if (!StoreCallsForbidden::here()) return decide();
  const MemoryOnly in_memory;
  auto decided = decide();
  if (!decided || !in_memory.sufficed()) return std::nullopt;
  return decided;
}

}  // namespace

// On whose behalf the asking thread works, carried along until they are answered: so long they are there.
struct Coordinator::CallerContext {
  AuditScope* audit_scope = AuditScope::current();
  std::optional<PendingAuditRows> pending_audit{std::in_place};

  // Submits a unit with what is pending_audit to the audit trail.
  void submit(CommitQueue& queue, Unit unit, CommitQueue::Answer answer) {
    if (pending_audit) unit.audit = pending_audit->rows();
    queue.submit(std::move(unit), [this, answer = std::move(answer)](Result<CommitOutcome> written, Unit&& back) {
      if (pending_audit && written && written->kind == CommitOutcome::Kind::done) pending_audit->written();
      answer(std::move(written), std::move(back));
    });
  }

  // Does something in their name.
  auto act(const auto& what) {
    std::optional<AuditScope::Enter> scope;
    if (audit_scope != nullptr) scope.emplace(*audit_scope);
    return what();
  }
};

struct Coordinator::DeliveryAttempt {
  Delivery delivery;
  Reached reached;
  std::shared_ptr<CallerContext> caller = {};
  std::optional<Decision> decision = {};
  int number = 0;
  bool continued = false;  // once: a store that fails must not keep us here

  void end(Result<Delivered, DeliveryError> delivered) {
    if (caller) caller->pending_audit.reset();
    decision.reset();
    reached(std::move(delivered));
  }
};

void Coordinator::try_delivery(const std::shared_ptr<DeliveryAttempt>& attempt) {
  auto tried = try_here([&] { return decide(attempt->delivery, attempt->number == 0); });
  if (!tried) return deferred_.post([this, attempt] { try_delivery(attempt); });
  Result<Decision, DeliveryError>& decision = *tried;
  if (!decision && decision.error().kind == DeliveryError::Kind::cut && !attempt->continued) {
    attempt->continued = true;
    ++attempt->number;
    return continue_slices({attempt->delivery.instance}, [this, attempt] { try_delivery(attempt); });
  }
  if (!decision && decision.error().error.code == ErrorCode::limit && attempt->delivery.cause.inbox &&
      !attempt->delivery.cause.message) {
    return refuse_unless_repeated(attempt, std::move(decision).error());
  }
  if (!decision) {
    store_.sync();  // told without a commit
    return attempt->end(std::move(decision).error());
  }
  const Unit& cause = attempt->delivery.cause;
  if (decision->slice.stale() && !cause.message && !cause.timer && !cause.run) {
    store_.sync();
    return attempt->end(Delivered{Delivered::Kind::stale, decision->before, {}, true, {}});
  }
  attempt->decision.emplace(std::move(*decision));
  auto answer = [this, attempt](Result<CommitOutcome> written, Unit&& back) {
    attempt->decision->slice.give_back(std::move(back));
    if (!written) {
      defer_slices(attempt->decision->slice.unfinished());  // it may have been written all the same
      return attempt->end(DeliveryError{DeliveryError::Kind::store, written.error()});
    }
    if (written->kind != CommitOutcome::Kind::stale) return conclude_attempt(attempt, *written);
    // The instance must be read again.
    deferred_.post([this, attempt, outcome = std::move(*written)]() mutable { conclude_attempt(attempt, outcome); });
  };
  Unit unit = std::move(attempt->decision->slice.unit);
  if (attempt->caller) return attempt->caller->submit(queue_, std::move(unit), std::move(answer));
  queue_.submit(std::move(unit), std::move(answer));
}

// A repeat of a signal that was taken is answered as a repeat, also when no further signal is. The store says which it
// is: the unit names a message that does not exist, so it is never written.
void Coordinator::refuse_unless_repeated(const std::shared_ptr<DeliveryAttempt>& attempt, DeliveryError refused) {
  auto now = store_.find_snapshot(attempt->delivery.instance);
  if (!now || !*now) return attempt->end(std::move(refused));
  Unit question;
  question.inbox = attempt->delivery.cause.inbox;
  question.message = -1;
  queue_.submit(std::move(question),
                [attempt, refused = std::move(refused), after = std::make_shared<const Snapshot>(std::move(**now))](
                    Result<CommitOutcome> answer, Unit&&) mutable {
                  if (!answer || answer->kind != CommitOutcome::Kind::duplicate_signal)
                    return attempt->end(std::move(refused));
                  attempt->end(Delivered{Delivered::Kind::duplicate_signal, std::move(after), {}, true, {}});
                });
}

void Coordinator::conclude_attempt(const std::shared_ptr<DeliveryAttempt>& attempt, CommitOutcome& outcome) {
  const auto concluded = [&] { return conclude(attempt->delivery, *attempt->decision, outcome); };
  auto delivered = attempt->caller ? attempt->caller->act(concluded) : concluded();
  if (!delivered) return attempt->end(std::move(delivered).error());
  if (*delivered) return attempt->end(std::move(**delivered));
  if (++attempt->number < attempts_max) return try_delivery(attempt);
  attempt->end(
      DeliveryError{DeliveryError::Kind::store,
               {ErrorCode::conflict, "instance " + attempt->delivery.instance.value + " kept changing; try again"}});
}

void Coordinator::deliver(Delivery delivery, Reached reached) {
  const InstanceId id = delivery.instance;
  auto lane = std::make_shared<Lanes::Hold>();
  auto cut_too = [this, id, lane, reached = std::move(reached)](Result<Delivered, DeliveryError> delivered) {
    if (!delivered || delivered->unfinished.empty()) {
      *lane = {};  // whoever is told may ask about the same instance at once
      return reached(std::move(delivered));
    }
    deferred_.post([this, id, lane, reached, delivered = std::move(*delivered)]() mutable {
      auto cut = delivered.unfinished;
      continue_slices(std::move(cut), [this, id, lane, reached, delivered = std::move(delivered)]() mutable {
        if (const auto rested = cache_.find(id)) delivered.after = rested;
        *lane = {};
        reached(std::move(delivered));
      });
    });
  };
  auto attempt =
      std::make_shared<DeliveryAttempt>(DeliveryAttempt{std::move(delivery), std::move(cut_too), std::make_shared<CallerContext>()});
  lanes_.enter(id, [this, lane, attempt = std::move(attempt)](Lanes::Hold entered) {
    *lane = std::move(entered);
    try_delivery(attempt);
  });
}

void Coordinator::continue_slices(std::vector<InstanceId> cut, std::function<void()> rested) {
  if (cut.empty()) return rested();
  Delivery delivery;
  delivery.instance = cut.back();
  delivery.what = Continued{};
  delivery.actor = node_;
  cut.pop_back();
  auto next = [this, id = delivery.instance, cut = std::move(cut),
               rested = std::move(rested)](Result<Delivered, DeliveryError> done) mutable {
    if (!done) {
      log_error("slice.cut", done.error().error, {{"instance", id.value}});
      defer_slices({id});
    } else {
      cut.insert(cut.end(), done->unfinished.begin(), done->unfinished.end());
    }
    // Not from here: this may be a thread of the queue, and each of many that end at once would be inside the other.
    deferred_.post([this, cut = std::move(cut), rested = std::move(rested)] { continue_slices(cut, rested); });
  };
  try_delivery(std::make_shared<DeliveryAttempt>(DeliveryAttempt{std::move(delivery), std::move(next)}));
}

void Coordinator::start(StartRequest request, Done done) {
  auto begun = try_here([&] { return prepare_start(request); });
  if (begun) return submit(std::move(*begun), std::move(done));
  deferred_.post([this, request = std::move(request), done = std::move(done)]() mutable {
    submit(prepare_start(request), std::move(done));
  });
}

void Coordinator::submit(Result<std::variant<InstanceAnswer, PreparedStart>> begun, Done done) {
  if (!begun) return done(std::move(begun).error());
  if (const auto* known = std::get_if<InstanceAnswer>(&*begun)) return done(*known);
  auto prepared = std::make_shared<PreparedStart>(std::get<PreparedStart>(std::move(*begun)));
  auto caller = std::make_shared<CallerContext>();
  caller->submit(queue_, std::move(prepared->slice.unit), [=, this](Result<CommitOutcome> written, Unit&& back) {
    prepared->slice.give_back(std::move(back));
    const auto end = [=, this](Result<CommitOutcome> outcome) {
      auto answer = caller->act([&] { return this->finish_start(*prepared, std::move(outcome)); });
      prepared->slice.promise.reset();
      caller->pending_audit.reset();
      if (!answer || answer->repeated || prepared->slice.unfinished().empty()) return done(std::move(answer));
      deferred_.post([this, prepared, done] {
        continue_slices(prepared->slice.unfinished(), [this, prepared, done] { done(rested(prepared->id)); });
      });
    };
    // What the first request with this key started must be read.
    if (!written || written->kind != CommitOutcome::Kind::duplicate_key) return end(std::move(written));
    deferred_.post([end, outcome = std::move(*written)] { end(outcome); });
  });
}

void Coordinator::signal(InstanceId id, SignalRequest request, Done done) {
  auto delivery = delivery_of(id, request);
  if (!delivery) return defer([done = std::move(done), error = std::move(delivery).error()] { done(error); });
  deliver(std::move(*delivery), [this, id, done = std::move(done)](Result<Delivered, DeliveryError> delivered) {
    done(signalled(std::move(delivered), id));
  });
}

Result<Delivered, DeliveryError> Coordinator::deliver(Delivery delivery) {
  using Given = Result<Delivered, DeliveryError>;
  return queue_.wait_for<Given>([&](Reached reached) { deliver(std::move(delivery), std::move(reached)); });
}

void Coordinator::continue_slices(std::vector<InstanceId> cut) {
  if (cut.empty()) return;
  CommitQueue::Expected expected(queue_);
  expected.one_more();
  continue_slices(std::move(cut), [&expected] { expected.answered(); });
  expected.wait();
}

Result<InstanceAnswer> Coordinator::start(const StartRequest& request) {
  return queue_.wait_for<Result<InstanceAnswer>>([&](Done done) { submit(prepare_start(request), std::move(done)); });
}

}  // namespace cairn
