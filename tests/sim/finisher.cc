// The calm after the storm: whatever is still open is brought to its end, and must come to it.
#include <map>

#include "actors.h"

namespace cairn::sim {

namespace {

class Finisher {
 public:
  explicit Finisher(World& world) : world_(world), calm_since_(world.scheduler().now()) {}

  void run() {
    constexpr int rounds_max = 400;
    std::int64_t pause_ms = 60'000;
    // Leases, holds and notices of the storm run out first; then nothing that was promised may be pending.
    world_.scheduler().sleep(600'000);
    if (Store* store = world_.store()) {
      world_.promises().check_signals(*store, world_.chronicle(), world_.scheduler().now());
    }
    for (int round = 0; round < rounds_max && !world_.failed(); ++round) {
      std::vector<InstanceId> open;
      for (const auto& [id, instance] : world_.chronicle().instances()) {
        if (!is_final(instance.status) && !instance.removed) open.push_back({id});
      }
      if (open.empty()) return drain();
      for (const InstanceId& id : open) push(id);
      world_.scheduler().sleep(pause_ms);
      if (round > 20) pause_ms = std::min<std::int64_t>(pause_ms * 2, 86'400'000);
    }
    if (!world_.failed()) stuck();
  }

 private:
  // Cancelled children, messages and publications are still in progress.
  void drain() {
    world_.scheduler().sleep(600'000);
    Store* store = world_.store();
    if (store == nullptr) return world_.broken({"I-32 liveness", "the store never came back"});
    for (const auto& [id, instance] : world_.chronicle().instances()) {
      const auto messages = store->list_messages({id});
      if (messages && !messages->empty()) {
        return world_.broken({"I-31 leftovers", "a message to instance " + id + " was never delivered"});
      }
    }
  }

  void push(const InstanceId& id) {
    Store* store = world_.store();
    if (store == nullptr) return;
    const auto row = store->find_instance(id);
    if (!row || !*row || is_final((**row).status)) return;
    int& tries = tries_[id.value];
    ++tries;
    if ((**row).status == Status::suspended) {
      if ((**row).error && (**row).error->failure_class == FailureClass::consistency) {
        return world_.broken({"I-02 parked", "instance " + id.value + " was parked: " + (**row).error->message});
      }
      if (!(**row).error) return request(id, ResumeRequested{});
      if (tries % 3 == 1) return request(id, RetryRequested{});
      if (tries % 3 == 2) return request(id, SkipRequested{random_payload(world_.dice(), 0)});
      return request(id, CancelRequested{"cannot be helped"});
    }
    // From the snapshot: not every wait has a row.
    const auto snapshot = store->find_snapshot(id);
    if (!snapshot || !*snapshot) return;
    const std::vector<Wait>& waits = (**snapshot).waits;
    for (const Wait& wait : waits) {
      if (is_overdue(*store, id, wait)) {
        return world_.broken({"I-32 liveness", "instance " + id.value + " waits for the " + to_string(wait.kind) +
                                                   " of step " + wait.step + " and nothing happens"});
      }
    }
    // Only people can keep it waiting now: with guards that no answer fits, signals that `where` never takes.
    if (tries > 30) return request(id, CancelRequested{"it takes too long"});
    for (const Wait& wait : waits) {
      if (wait.kind == WaitKind::task) complete(*store, wait.target);
      if (wait.kind == WaitKind::signal && tries > 1) signal(id, wait);
    }
  }

  // What the engine and its workers owe, long after every lease, hold and notice of the storm has run out.
  bool is_overdue(Store& store, const InstanceId& id, const Wait& wait) {
    const auto passed = [&](Timestamp since, std::int64_t seconds) {
      return between(since, world_.scheduler().now()) > Duration::of_seconds(seconds);
    };
    constexpr std::int64_t timer_seconds = 600;
    constexpr std::int64_t run_seconds = 3 * 3600;  // a worker's doubts
    if (wait.kind == WaitKind::timer) return wait.until && passed(*wait.until, timer_seconds);
    if (wait.kind != WaitKind::run) return false;
    // The next attempt may be hours away by its own policy: what counts is how long it could have been made.
    Timestamp since = std::max(wait.since, calm_since_);
    RunFilter of_instance;
    of_instance.instance = id;
    if (const auto runs = store.list_runs(of_instance, {1000, ""})) {
      for (const RunRow& run : runs->items) {
        if (run.token == wait.token) since = std::max(since, run.run_at);
      }
    }
    return passed(since, run_seconds);
  }

  void request(const InstanceId& id, const EventBody& what) {
    const Actor actor{"finisher." + std::to_string(++requests_), {}};
    world_.recorder().will_request(actor.name, entry_of(id, what));
    const auto answer = world_.ask<InstanceAnswer>(
        "finish", [id, what, actor](EngineCore& core) { return core.instances().request(id, what, actor); });
    if (answer && !*answer) world_.say("finisher is refused: " + answer->error().message);
    if (answer && !*answer && is_transient(answer->error())) {
      world_.broken({"I-32 liveness", "a request in the calm failed: " + answer->error().message});
    }
  }

  void complete(Store& store, const std::string& id) {
    const auto task = store.find_task({id});
    if (!task || !*task) return;
    TaskCompletion completion;
    completion.task = {id};
    completion.actor.name = "finisher";
    completion.payload = random_payload(world_.dice(), 0);
    const auto answer = world_.ask<InstanceAnswer>(
        "finish task", [completion](EngineCore& core) { return core.tasks().complete(completion); });
    if (answer && *answer) world_.promises().completed(completion, **answer, world_.chronicle());
    if (answer && !*answer) world_.say("finisher is refused: " + answer->error().message);
  }

  void signal(const InstanceId& id, const Wait& wait) {
    SignalRequest request;
    request.id = "finisher-" + std::to_string(++signals_);
    request.name = wait.name;
    request.key = wait.key;
    request.payload = random_payload(world_.dice(), 0);
    request.actor.name = "finisher";
    world_.recorder().will_signal(request.id, request.name, request.key, request.payload);
    const auto answer = world_.ask<InstanceAnswer>(
        "finish signal", [id, request](EngineCore& core) { return core.instances().signal(id, request); });
    if (answer && *answer) world_.promises().signalled(id, request.id, world_.chronicle());
  }

  void stuck() {
    std::string message = "still open:";
    for (const auto& [id, instance] : world_.chronicle().instances()) {
      if (is_final(instance.status) || instance.removed) continue;
      message += " instance " + id + " is " + to_string(instance.status);
      const auto waits =
          world_.store() ? world_.store()->list_waits({id}) : Result<std::vector<Wait>>(std::vector<Wait>());
      if (!waits) continue;
      for (const Wait& wait : *waits)
        message += std::string(", waits for ") + to_string(wait.kind) + " at " + wait.step;
    }
    world_.broken({"I-32 liveness", message});
  }

  World& world_;
  const Timestamp calm_since_;
  std::map<std::string, int> tries_;
  int signals_ = 0;
  int requests_ = 0;
};

}  // namespace

void finish_everything(World& world) {
  Finisher finisher(world);
  finisher.run();
}

}  // namespace cairn::sim
