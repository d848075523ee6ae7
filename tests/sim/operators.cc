// Those who keep it running, and try things.
#include "actors.h"

namespace cairn::sim {

namespace {

class Operator {
 public:
  explicit Operator(World& world) : world_(world) {}

  void act() {
    if (world_.strikes(Fault::cancel)) request(CancelRequested{"no longer wanted"});
    if (world_.strikes(Fault::suspend)) request(SuspendRequested{"wait"});
    // Resuming an incident as it is means nothing that the specification says.
    if (world_.dice().chance(30) && !world_.plan().record) request(ResumeRequested{});
    if (world_.dice().chance(30)) request(RetryRequested{});
    if (world_.strikes(Fault::skip)) request(SkipRequested{random_payload(world_.dice(), 0)});
    if (world_.strikes(Fault::edit)) {
      request(StateEdited{Json::object({{"edited", Json(static_cast<std::int64_t>(world_.dice().below(100)))}})});
    }
    if (world_.strikes(Fault::run_cancelled)) cancel_run();
    if (world_.strikes(Fault::replay)) replay();
    if (world_.strikes(Fault::deploy)) deploy();
    if (world_.strikes(Fault::retention)) retire();
  }

 private:
  std::optional<InstanceId> somebody() {
    const auto page = world_.ask<Page<InstanceRow>>(
        "list instances", [](EngineCore& core) { return core.store().list_instances({}, {}); });
    if (!page || !*page || (**page).items.empty()) return std::nullopt;
    return world_.dice().pick((**page).items).id;
  }

  void request(const EventBody& what) {
    const auto id = somebody();
    if (!id) return;
    const Actor actor{"operator." + std::to_string(++requests_), {}};
    world_.recorder().will_request(actor.name, entry_of(*id, what));
    const auto answer = world_.ask<InstanceAnswer>(
        "request", [id, what, actor](EngineCore& core) { return core.instances().request(*id, what, actor); });
    if (answer && *answer && std::holds_alternative<CancelRequested>(what)) {
      world_.promises().cancelled(**answer, world_.chronicle());
      // Its children have not heard of it yet.
      if (world_.plan().rate(Fault::retention) > 0 && world_.dice().chance(50)) retire();
    }
  }

  void cancel_run() {
    const auto page =
        world_.ask<Page<RunRow>>("list runs", [](EngineCore& core) { return core.store().list_runs({}, {}); });
    if (!page || !*page || (**page).items.empty()) return;
    const RunId id = world_.dice().pick((**page).items).id;
    static_cast<void>(world_.ask<RunRow>("cancel run", [id](EngineCore& core) {
      return core.runs().cancel(id, Actor{"operator", {}});
    }));
  }

  void replay() {
    const auto page = world_.ask<Page<DeadLetter>>("list dead letters",
                                                   [](EngineCore& core) { return core.store().list_dead_letters({}); });
    if (!page || !*page || (**page).items.empty()) return;
    const DeadLetter& letter = world_.dice().pick((**page).items);
    // Those of runs are left for the last check, which counts them.
    if (letter.kind == "run") return;
    const std::int64_t id = letter.id;
    const bool keep = world_.dice().chance(70);
    static_cast<void>(world_.ask<bool>("dead letter", [id, keep](EngineCore& core) {
      return keep ? core.store().replay_dead_letter(id) : core.store().discard_dead_letter(id);
    }));
  }

  void deploy() {
    const auto program = world_.next_version();
    if (!program) return;
    const bool withdraw = world_.dice().chance(20);
    static_cast<void>(world_.ask<bool>("deploy", [program, withdraw](EngineCore& core) -> Result<bool> {
      CAIRN_TRY_VOID(core.registry().deploy(program));
      if (withdraw) return core.registry().retire(program->name, program->version);
      return true;
    }));
  }

  void retire() {
    RetentionRequest request;
    request.statuses = {Status::completed, Status::failed, Status::cancelled};
    request.ended_before = *add(world_.scheduler().now(), Duration::of_ms(1));
    static_cast<void>(world_.ask<RetentionOutcome>(
        "retention", [request](EngineCore& core) { return core.store().retire_instances(request); }));
  }

  World& world_;
  int requests_ = 0;
};

}  // namespace

Json entry_of(const InstanceId& id, const EventBody& what) {
  Json entry = Json::object({{"instance", id.value}});
  if (std::holds_alternative<CancelRequested>(what)) entry.set("event", "cancel");
  if (std::holds_alternative<SuspendRequested>(what)) entry.set("event", "suspend");
  if (std::holds_alternative<ResumeRequested>(what)) entry.set("event", "resume");
  if (std::holds_alternative<RetryRequested>(what)) entry.set("event", "retry");
  if (const auto* skip = std::get_if<SkipRequested>(&what)) {
    entry.set("event", "skip");
    entry.set("result", skip->result);
  }
  if (const auto* edit = std::get_if<StateEdited>(&what)) {
    entry.set("event", "edit");
    entry.set("patch", edit->merge_patch);
  }
  return entry;
}

void run_operator(World& world, int) {
  Operator person(world);
  for (int i = 0; i < world.plan().actions; ++i) {
    world.scheduler().sleep(world.dice().below(120'000));
    person.act();
  }
}

}  // namespace cairn::sim
