// People and other systems.
#include "actors.h"

namespace cairn::sim {

namespace {

// One user. It repeats a request with the same key.
class Client {
 public:
  Client(World& world, int number) : world_(world), name_("client" + std::to_string(number)), number_(number) {}

  void run() {
    const int starts = std::max(1, world_.plan().instances / world_.plan().clients);
    for (int i = 0; i < starts; ++i) {
      start();
      pause();
    }
    for (int i = 0; i < world_.plan().actions; ++i) {
      switch (world_.dice().below(10)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4: complete(); break;
        case 5: change_task(); break;
        case 6:
        case 7: signal(); break;
        case 8: broadcast(); break;
        default: look(); break;
      }
      pause();
    }
  }

 private:
  static constexpr int tries_max = 4;

  void pause() {
    Dice& dice = world_.dice();
    static constexpr int scales[] = {10, 1000, 60'000, 3'600'000};
    world_.scheduler().sleep(dice.below(scales[dice.below(4)]));
  }

  std::string next_key(const char* what) {
    return std::string(what) + "-" + std::to_string(number_) + "-" + std::to_string(++keys_);
  }

  // Sends the same request again while the first is in progress.
  void maybe_twice(const std::function<void()>& request) {
    if (world_.strikes(Fault::double_click)) world_.scheduler().spawn(no_node, name_ + "'s second click", request);
    request();
  }

  template <class T>
  void insist(const std::string& what, const std::function<Result<T>(EngineCore&)>& request,
              const std::function<void(const T&)>& told) {
    for (int attempt = 0; attempt < tries_max; ++attempt) {
      const auto answer = world_.ask<T>(what, request);
      if (answer && *answer) return told(**answer);
      if (answer) {
        world_.say(what + " is refused: " + answer->error().message);
        if (!is_transient(answer->error())) return;
      }
      world_.scheduler().sleep(100 << attempt);
    }
  }

  void start() {
    StartRequest request;
    request.definition = world_.workflows().root;
    request.input = world_.workflows().input;
    request.actor.name = name_;
    if (world_.dice().chance(80)) request.idempotency_key = next_key("start");
    if (world_.dice().chance(30)) request.id = next_key("instance");
    // A start that nothing names must not be repeated.
    const auto send = [this, request] {
      const auto told = [this, key = request.idempotency_key](const InstanceAnswer& answer) {
        world_.say("started " + answer.instance.value);
        world_.promises().started(key, answer, world_.chronicle());
      };
      const std::function<Result<InstanceAnswer>(EngineCore&)> call = [request](EngineCore& core) {
        return core.instances().start(request);
      };
      if (!request.idempotency_key.empty()) return insist<InstanceAnswer>("start", call, told);
      const auto answer = world_.ask<InstanceAnswer>("start", call);
      if (answer && *answer) told(**answer);
    };
    if (request.idempotency_key.empty()) {
      send();
    } else {
      maybe_twice(send);
    }
  }

  std::optional<TaskRow> some_task() {
    TaskFilter filter;
    filter.closed = world_.strikes(Fault::stale_form);
    const auto page = world_.ask<Page<TaskRow>>(
        "list tasks", [filter](EngineCore& core) { return core.store().list_tasks(filter, {}); });
    if (!page || !*page || (**page).items.empty()) return std::nullopt;
    return world_.dice().pick((**page).items);
  }

  Actor somebody(const TaskRow& task) {
    Actor actor;
    const auto& people = world_.workflows().hints.people;
    actor.name = people.empty() ? name_ : world_.dice().pick(people);
    if (world_.strikes(Fault::wrong_person)) {
      actor.roles = std::vector<std::string>{"nobody"};
      if (!task.exclude.empty()) {
        actor.name = task.exclude.front();
        actor.roles = task.roles;
      }
    } else {
      if (!task.assignee.empty()) actor.name = task.assignee;
      actor.roles = task.roles;
    }
    return actor;
  }

  void complete() {
    const auto task = some_task();
    if (!task && --starts_left_ >= 0) return start();
    if (!task) return;
    TaskCompletion completion;
    completion.task = task->id;
    completion.actor = somebody(*task);
    completion.payload = some_payload();
    if (world_.dice().chance(70)) completion.idempotency_key = next_key("complete");
    if (world_.dice().chance(30)) completion.state_version = task->state_version;
    if (world_.strikes(Fault::stale_form) && task->state_version > 1)
      completion.state_version = task->state_version - 1;
    maybe_twice([this, completion] {
      const std::function<Result<InstanceAnswer>(EngineCore&)> call = [completion](EngineCore& core) {
        return core.tasks().complete(completion);
      };
      insist<InstanceAnswer>("complete " + completion.task.value, call,
                             [this, completion](const InstanceAnswer& answer) {
                               world_.say("completed " + completion.task.value);
                               world_.promises().completed(completion, answer, world_.chronicle());
                             });
    });
  }

  void change_task() {
    const auto task = some_task();
    if (!task) return;
    TaskChange change;
    change.task = task->id;
    change.kind = static_cast<TaskChange::Kind>(world_.dice().below(4));
    change.assignee = somebody(*task).name;
    change.comment = "look";
    if (world_.dice().chance(50)) change.state_version = task->state_version;
    const Actor actor{name_, {}};
    static_cast<void>(world_.ask<TaskRow>(
        "change task", [change, actor](EngineCore& core) { return core.tasks().change(change, actor); }));
  }

  Json some_payload() { return random_payload(world_.dice(), world_.strikes(Fault::odd_payload) ? 100 : 0); }

  std::optional<SignalRequest> some_signal() {
    const CaseHints& hints = world_.workflows().hints;
    if (hints.signal_names.empty()) return std::nullopt;
    if (last_ && world_.strikes(Fault::signal_again)) return last_;
    SignalRequest request;
    request.name = world_.strikes(Fault::stray_signal) ? "stray" : world_.dice().pick(hints.signal_names);
    if (!hints.signal_keys.empty() && world_.dice().chance(70)) request.key = world_.dice().pick(hints.signal_keys);
    request.payload = some_payload();
    request.id = next_key("signal");
    request.actor.name = name_;
    last_ = request;
    return request;
  }

  void signal() {
    const auto request = some_signal();
    const auto& known = world_.promises().instances();
    if (!request || known.empty()) return;
    const InstanceId target = world_.dice().pick(known);
    world_.recorder().will_signal(request->id, request->name, request->key, request->payload);
    maybe_twice([this, request, target] {
      const std::function<Result<InstanceAnswer>(EngineCore&)> call = [request, target](EngineCore& core) {
        return core.instances().signal(target, *request);
      };
      insist<InstanceAnswer>("signal " + request->id, call, [this, request, target](const InstanceAnswer&) {
        world_.promises().signalled(target, request->id, world_.chronicle());
      });
    });
  }

  void broadcast() {
    const auto request = some_signal();
    if (!request) return;
    // Several at once for the same waits: one goes first, and the others find its result.
    for (int more = world_.dice().chance(25) ? 2 : 0; more > 0; --more) {
      SignalRequest other = *request;
      other.id = next_key("signal");
      world_.scheduler().spawn(no_node, name_ + "'s other signal", [this, other] { broadcast(other); });
    }
    broadcast(*request);
  }

  void broadcast(const SignalRequest& request) {
    const Duration ttl = Duration::of_seconds(world_.dice().chance(50) ? 60 : 100'000'000);
    const Timestamp until = *add(world_.scheduler().now(), ttl);
    SignalRequest kept = request;
    kept.ttl = ttl;
    maybe_twice([this, request, kept, until] {
      const std::function<Result<SignalOutcome>(EngineCore&)> call = [kept](EngineCore& core) {
        return core.instances().broadcast(kept);
      };
      insist<SignalOutcome>("broadcast " + request.id, call, [this, request, until](const SignalOutcome&) {
        world_.promises().broadcast(request, until);
      });
    });
  }

  void look() {
    const auto& known = world_.promises().instances();
    if (known.empty()) return;
    const InstanceId id = world_.dice().pick(known);
    static_cast<void>(
        world_.ask<Page<HistoryRow>>("history", [id](EngineCore& core) { return core.store().history(id, {}); }));
  }

  World& world_;
  std::string name_;
  int number_;
  int keys_ = 0;
  int starts_left_ = 3;  // when there is nothing else to do
  std::optional<SignalRequest> last_;
};

}  // namespace

void run_client(World& world, int number) {
  // On the heap: second clicks may outlive the client's own run.
  auto* client = new Client(world, number);
  client->run();
}

}  // namespace cairn::sim
