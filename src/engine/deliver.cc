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
struct Coordinator::Principal {
  Mandate* mandate = Mandate::current();
  std::optional<OwedRows> owed{std::in_place};

  // Submits a unit with what is owed to the audit trail.
  void submit(CommitQueue& queue, Unit unit, CommitQueue::Answer answer) {
    if (owed) unit.audit = owed->rows();
    queue.submit(std::move(unit), [this, answer = std::move(answer)](Result<CommitOutcome> written, Unit&& back) {
      if (owed && written && written->kind == CommitOutcome::Kind::done) owed->written();
      answer(std::move(written), std::move(back));
    });
  }

  // Does something in their name.
  auto act(const auto& what) {
    std::optional<Mandate::Scope> scope;
    if (mandate != nullptr) scope.emplace(*mandate);
    return what();
  }
};

struct Coordinator::Pursuit {
  Errand errand;
  Reached reached;
  std::shared_ptr<Principal> principal = {};
  std::optional<Decision> decision = {};
  int attempt = 0;
  bool went_on = false;  // once: a store that fails must not keep us here

  void end(Result<Delivered, Obstacle> delivered) {
    if (principal) principal->owed.reset();
    decision.reset();
    reached(std::move(delivered));
  }
};

void Coordinator::pursue(const std::shared_ptr<Pursuit>& pursuit) {
  auto tried = try_here([&] { return decide(pursuit->errand, pursuit->attempt == 0); });
  if (!tried) return deferred_.post([this, pursuit] { pursue(pursuit); });
  Result<Decision, Obstacle>& decision = *tried;
  if (!decision && decision.error().kind == Obstacle::Kind::cut && !pursuit->went_on) {
    pursuit->went_on = true;
    ++pursuit->attempt;
    return go_on({pursuit->errand.instance}, [this, pursuit] { pursue(pursuit); });
  }
  if (!decision && decision.error().error.code == ErrorCode::limit && pursuit->errand.cause.inbox &&
      !pursuit->errand.cause.message) {
    return refuse_unless_repeated(pursuit, std::move(decision).error());
  }
  if (!decision) {
    store_.settle();  // told without a commit
    return pursuit->end(std::move(decision).error());
  }
  const Unit& cause = pursuit->errand.cause;
  if (decision->slice.stale() && !cause.message && !cause.timer && !cause.run) {
    store_.settle();
    return pursuit->end(Delivered{Delivered::Kind::stale, decision->before, {}, true, {}});
  }
  pursuit->decision.emplace(std::move(*decision));
  auto answer = [this, pursuit](Result<CommitOutcome> written, Unit&& back) {
    pursuit->decision->slice.give_back(std::move(back));
    if (!written) {
      leave_cut(pursuit->decision->slice.unfinished());  // it may have been written all the same
      return pursuit->end(Obstacle{Obstacle::Kind::store, written.error()});
    }
    if (written->kind != CommitOutcome::Kind::stale) return settle_pursuit(pursuit, *written);
    // The instance must be read again.
    deferred_.post([this, pursuit, outcome = std::move(*written)]() mutable { settle_pursuit(pursuit, outcome); });
  };
  Unit unit = std::move(pursuit->decision->slice.unit);
  if (pursuit->principal) return pursuit->principal->submit(queue_, std::move(unit), std::move(answer));
  queue_.submit(std::move(unit), std::move(answer));
}

// A repeat of a signal that was taken is answered as a repeat, also when no further signal is. The store says which it
// is: the unit names a message that does not exist, so it is never written.
void Coordinator::refuse_unless_repeated(const std::shared_ptr<Pursuit>& pursuit, Obstacle refused) {
  auto now = store_.find_snapshot(pursuit->errand.instance);
  if (!now || !*now) return pursuit->end(std::move(refused));
  Unit question;
  question.inbox = pursuit->errand.cause.inbox;
  question.message = -1;
  queue_.submit(std::move(question),
                [pursuit, refused = std::move(refused), after = std::make_shared<const Snapshot>(std::move(**now))](
                    Result<CommitOutcome> answer, Unit&&) mutable {
                  if (!answer || answer->kind != CommitOutcome::Kind::duplicate_signal)
                    return pursuit->end(std::move(refused));
                  pursuit->end(Delivered{Delivered::Kind::duplicate_signal, std::move(after), {}, true, {}});
                });
}

void Coordinator::settle_pursuit(const std::shared_ptr<Pursuit>& pursuit, CommitOutcome& outcome) {
  const auto concluded = [&] { return conclude(pursuit->errand, *pursuit->decision, outcome); };
  auto delivered = pursuit->principal ? pursuit->principal->act(concluded) : concluded();
  if (!delivered) return pursuit->end(std::move(delivered).error());
  if (*delivered) return pursuit->end(std::move(**delivered));
  if (++pursuit->attempt < attempts_max) return pursue(pursuit);
  pursuit->end(
      Obstacle{Obstacle::Kind::store,
               {ErrorCode::conflict, "instance " + pursuit->errand.instance.value + " kept changing; try again"}});
}

void Coordinator::deliver(Errand errand, Reached reached) {
  const InstanceId id = errand.instance;
  auto lane = std::make_shared<Lanes::Hold>();
  auto cut_too = [this, id, lane, reached = std::move(reached)](Result<Delivered, Obstacle> delivered) {
    if (!delivered || delivered->unfinished.empty()) {
      *lane = {};  // whoever is told may ask about the same instance at once
      return reached(std::move(delivered));
    }
    deferred_.post([this, id, lane, reached, delivered = std::move(*delivered)]() mutable {
      auto cut = delivered.unfinished;
      go_on(std::move(cut), [this, id, lane, reached, delivered = std::move(delivered)]() mutable {
        if (const auto rested = cache_.find(id)) delivered.after = rested;
        *lane = {};
        reached(std::move(delivered));
      });
    });
  };
  auto pursuit =
      std::make_shared<Pursuit>(Pursuit{std::move(errand), std::move(cut_too), std::make_shared<Principal>()});
  lanes_.enter(id, [this, lane, pursuit = std::move(pursuit)](Lanes::Hold entered) {
    *lane = std::move(entered);
    pursue(pursuit);
  });
}

void Coordinator::go_on(std::vector<InstanceId> cut, std::function<void()> rested) {
  if (cut.empty()) return rested();
  Errand errand;
  errand.instance = cut.back();
  errand.what = Continued{};
  errand.actor = node_;
  cut.pop_back();
  auto next = [this, id = errand.instance, cut = std::move(cut),
               rested = std::move(rested)](Result<Delivered, Obstacle> done) mutable {
    if (!done) {
      log_error("slice.cut", done.error().error, {{"instance", id.value}});
      leave_cut({id});
    } else {
      cut.insert(cut.end(), done->unfinished.begin(), done->unfinished.end());
    }
    // Not from here: this may be a thread of the queue, and each of many that end at once would be inside the other.
    deferred_.post([this, cut = std::move(cut), rested = std::move(rested)] { go_on(cut, rested); });
  };
  pursue(std::make_shared<Pursuit>(Pursuit{std::move(errand), std::move(next)}));
}

void Coordinator::start(StartRequest request, Done done) {
  auto begun = try_here([&] { return begin(request); });
  if (begun) return submit(std::move(*begun), std::move(done));
  deferred_.post([this, request = std::move(request), done = std::move(done)]() mutable {
    submit(begin(request), std::move(done));
  });
}

void Coordinator::submit(Result<std::variant<InstanceAnswer, Beginning>> begun, Done done) {
  if (!begun) return done(std::move(begun).error());
  if (const auto* known = std::get_if<InstanceAnswer>(&*begun)) return done(*known);
  auto beginning = std::make_shared<Beginning>(std::get<Beginning>(std::move(*begun)));
  auto principal = std::make_shared<Principal>();
  principal->submit(queue_, std::move(beginning->slice.unit), [=, this](Result<CommitOutcome> written, Unit&& back) {
    beginning->slice.give_back(std::move(back));
    const auto end = [=, this](Result<CommitOutcome> outcome) {
      auto answer = principal->act([&] { return this->begun(*beginning, std::move(outcome)); });
      beginning->slice.promise.reset();
      principal->owed.reset();
      if (!answer || answer->repeated || beginning->slice.unfinished().empty()) return done(std::move(answer));
      deferred_.post([this, beginning, done] {
        go_on(beginning->slice.unfinished(), [this, beginning, done] { done(rested(beginning->id)); });
      });
    };
    // What the first request with this key started must be read.
    if (!written || written->kind != CommitOutcome::Kind::duplicate_key) return end(std::move(written));
    deferred_.post([end, outcome = std::move(*written)] { end(outcome); });
  });
}

void Coordinator::signal(InstanceId id, SignalRequest request, Done done) {
  auto errand = errand_of(id, request);
  if (!errand) return defer([done = std::move(done), error = std::move(errand).error()] { done(error); });
  deliver(std::move(*errand), [this, id, done = std::move(done)](Result<Delivered, Obstacle> delivered) {
    done(signalled(std::move(delivered), id));
  });
}

Result<Delivered, Obstacle> Coordinator::deliver(Errand errand) {
  using Given = Result<Delivered, Obstacle>;
  return queue_.wait_for<Given>([&](Reached reached) { deliver(std::move(errand), std::move(reached)); });
}

void Coordinator::go_on(std::vector<InstanceId> cut) {
  if (cut.empty()) return;
  CommitQueue::Expected expected(queue_);
  expected.one_more();
  go_on(std::move(cut), [&expected] { expected.answered(); });
  expected.wait();
}

Result<InstanceAnswer> Coordinator::start(const StartRequest& request) {
  return queue_.wait_for<Result<InstanceAnswer>>([&](Done done) { submit(begin(request), std::move(done)); });
}

}  // namespace cairn
