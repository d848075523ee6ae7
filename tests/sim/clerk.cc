// The quiet verbs of a store, used beside everything else: locks, schedules, keys, the audit trail, runs on their own.
#include "actors.h"
#include "store/audit_chain.h"
#include "store/projection.h"

namespace cairn::sim {

namespace {

class Clerk {
 public:
  explicit Clerk(World& world) : world_(world) {}

  void act() {
    using Action = void (Clerk::*)();
    static constexpr Action actions[] = {&Clerk::lock,  &Clerk::schedules, &Clerk::credentials, &Clerk::documents,
                                         &Clerk::audit, &Clerk::orders,    &Clerk::outbox,      &Clerk::rules,
                                         &Clerk::rows,  &Clerk::letters};
    (this->*actions[world_.dice().below(std::size(actions))])();
  }

  // Appended once each, whatever was lost on the way: the chain has no gap.
  void check() {
    Store* store = world_.store();
    if (store == nullptr) return;
    const auto report = verify_audit(*store);
    if (report && report->broken_at) {
      world_.broken(
          {"I-28 audit", "the chain is broken at " + std::to_string(*report->broken_at) + ": " + report->why});
    }
    if (report && report->rows < audited_) {
      world_.broken({"I-28 audit", std::to_string(audited_) + " rows were acknowledged and " +
                                       std::to_string(report->rows) + " are there"});
    }
  }

 private:
  template <class T>
  std::optional<T> use(const char* what, std::function<Result<T>(Store&)> verb) {
    auto answer = world_.ask<T>(what, [verb](EngineCore& core) { return verb(core.store()); });
    if (!answer || !*answer) return std::nullopt;
    return std::move(**answer);
  }
  bool done(const char* what, std::function<Result<void>(Store&)> verb) {
    return use<bool>(what,
                     [verb](Store& store) -> Result<bool> {
                       CAIRN_TRY_VOID(verb(store));
                       return true;
                     })
        .has_value();
  }
  std::string name(const char* what) { return what + std::to_string(++names_); }

  void lock() {
    const std::string owner = name("owner");
    const auto held = use<std::optional<HostLock>>(
        "lock", [owner](Store& store) { return store.hold_lock("cleaning", owner, Duration::of_seconds(60)); });
    if (!held || !*held) return;
    const HostLock lock = **held;
    if (lock.fence <= fence_) world_.broken({"I-15 leases", "a lock was given with a fence that is not greater"});
    fence_ = lock.fence;
    done("unlock", [lock](Store& store) { return store.drop_lock(lock); });
  }

  void schedules() {
    ScheduleRow row;
    row.name = name("schedule");
    row.spec = Json::object({{"every", "PT1H"}});
    row.next_at = *add(world_.scheduler().now(), Duration::of_seconds(10LL * 365 * 86'400));  // never fires here
    use<PutSchedule>("put schedule", [row](Store& store) { return store.put_schedule(row); });
    use<std::vector<ScheduleRow>>("take schedules",
                                  [](Store& store) { return store.take_schedules(10, Duration::of_seconds(30)); });
    use<std::optional<ScheduleRow>>("find schedule", [row](Store& store) { return store.find_schedule(row.name); });
    const auto all = use<Page<ScheduleRow>>("list schedules", [](Store& store) { return store.list_schedules({}); });
    if (!all) return;
    for (const ScheduleRow& one : all->items) {
      use<bool>("remove schedule", [one](Store& store) { return store.remove_schedule(one.name); });
    }
  }

  void credentials() {
    ApiKeyRow row;
    row.id = name("key");
    row.secret_hash = row.id + " hash";
    row.subject = "clerk";
    if (!done("put key", [row](Store& store) { return store.put_api_key(row); })) return;
    const auto found =
        use<std::optional<ApiKeyRow>>("find key", [row](Store& store) { return store.find_api_key(row.secret_hash); });
    if (found && !*found) world_.broken({"P-01 acknowledged", "api key " + row.id + " is missing"});
    use<std::vector<ApiKeyRow>>("list keys", [](Store& store) { return store.list_api_keys(); });
    use<bool>("revoke key", [row](Store& store) { return store.revoke_api_key(row.id); });
    const TokenUserRow user{row.id + " account", row.id + " person", {"viewer"}, {"clerk"}};
    if (!done("put token user", [user](Store& store) { return store.put_token_user(user); })) return;
    const auto users = use<std::vector<TokenUserRow>>(
        "find token users", [user](Store& store) { return store.find_token_users(user.person); });
    if (users && *users != std::vector{user}) {
      world_.broken({"P-01 acknowledged", "token user " + user.account + " is missing"});
    }
  }

  void documents() {
    const DocumentRow row{"view", name("view"), "clerk", Json::object({{"filter", "status:failed"}}), 0, {}};
    const auto put =
        use<std::optional<std::uint64_t>>("put document", [row](Store& store) { return store.put_document(row); });
    const auto found = use<std::optional<DocumentRow>>(
        "find document", [row](Store& store) { return store.find_document(row.kind, row.id); });
    if (put && *put && found && !*found) world_.broken({"P-01 acknowledged", "document " + row.id + " is missing"});
    use<Page<DocumentRow>>("list documents", [](Store& store) { return store.list_documents({"view"}, {}); });
    use<bool>("remove document", [row](Store& store) { return store.remove_document(row.kind, row.id); });
  }

  void audit() {
    AuditRow row;
    row.who = "clerk";
    row.what = "look";
    row.resource = name("thing");
    if (done("audit", [row](Store& store) { return store.append_audit(std::span(&row, 1)); })) ++audited_;
    use<Page<AuditRow>>("list audit", [](Store& store) { return store.list_audit({}); });
  }

  // Runs without any workflow.
  void orders() {
    RunRow run;
    run.id = {name("run")};
    run.type = "clerk.v1";
    run.idempotency_key = run.id.value + " key";
    run.backoff = Duration::of_seconds(1);
    run.cap = Duration::of_seconds(60);
    run.run_at = world_.scheduler().now();
    const auto made = use<std::pair<RunRow, bool>>("submit", [run](Store& store) { return store.submit_run(run); });
    RunRow second = run;
    second.id = {name("run")};
    second.idempotency_key = second.id.value + " key";
    use<std::vector<bool>>("submit two",
                           [both = std::vector{run, second}](Store& store) mutable { return store.submit_runs(both); });
    use<std::vector<RunEvent>>("run events", [run](Store& store) { return store.run_events(run.id); });
    if (!made || !world_.dice().chance(50)) return;
    const auto row = use<std::optional<RunRow>>("find run", [run](Store& store) { return store.find_run(run.id); });
    if (row && !*row) world_.broken({"P-01 acknowledged", "run " + run.id.value + " is missing"});
  }

  void outbox() {
    const auto page = use<Page<OutboxRow>>("list outbox", [](Store& store) { return store.list_outbox({}, {}); });
    if (!page || page->items.empty()) return;
    const std::int64_t sequence = world_.dice().pick(page->items).sequence;
    // Nothing is queued for this sink: it changes nothing but the log.
    use<std::size_t>("record sink results", [sequence](Store& store) {
      const SinkResult event{sequence, SinkResult::Kind::failed, 1, store.now(), "no", Duration::of_seconds(5)};
      return store.record_sink_results("clerk", std::span(&event, 1));
    });
    use<std::vector<SinkDelivery>>("list deliveries",
                                   [sequence](Store& store) { return store.list_deliveries(sequence); });
    use<std::vector<std::string>>("list sink queues", [](Store& store) { return store.list_sink_queues(); });
    done("hold event", [sequence](Store& store) {
      return store.hold_outbox("clerk", std::span(&sequence, 1), Duration::of_seconds(5));
    });
    use<bool>("resend", [sequence](Store& store) { return store.resend_outbox(sequence); });
  }

  void rules() {
    RunTypeRow row;
    row.type = "clerk.v1";
    row.concurrency = 1 + world_.dice().below(3);
    done("put run type", [row](Store& store) { return store.put_run_type(row); });
    use<std::vector<RunTypeRow>>("list run types", [](Store& store) { return store.list_run_types(); });
    use<bool>("remove run type", [](Store& store) { return store.remove_run_type("clerk.v1"); });
  }

  void rows() {
    const Timestamp now = world_.scheduler().now();
    use<int>("schema version", [](Store& store) { return store.schema_version(); });
    RowRetention request;
    request.keys_before = *add(now, Duration::of_seconds(-86'400));
    use<RowRetentionOutcome>("retire rows", [request](Store& store) { return store.retire_rows(request); });
    const auto& known = world_.promises().instances();
    if (known.empty()) return;
    const InstanceId id = world_.dice().pick(known);
    use<bool>("hide", [id](Store& store) { return store.mark_deleted(id, "old"); });
    use<std::vector<DueTimer>>("list timers", [id](Store& store) { return store.list_timers(id); });
    use<std::vector<Message>>("list messages", [id](Store& store) { return store.list_messages(id); });
    use<std::vector<Wait>>("list waits", [id](Store& store) { return store.list_waits(id); });
    const auto tasks = use<Page<TaskRow>>("list tasks", [id](Store& store) {
      TaskFilter filter;
      filter.instance = id;
      filter.closed = true;
      return store.list_tasks(filter, {});
    });
    if (!tasks || tasks->items.empty()) return;
    const TaskId task = tasks->items.front().id;
    use<std::vector<TaskEvent>>("task events", [task](Store& store) { return store.task_events(task); });
  }

  // What could not be delivered, put aside by hand; operators replay or discard it.
  void letters() {
    DeadLetter lost;
    lost.node = "clerk";
    lost.instance = InstanceId{name("nobody")};
    lost.envelope = Json::object({{"id", lost.instance->value}});
    lost.kind = "start";
    lost.reason = "nobody knows it";
    Failure why;
    why.failure_class = FailureClass::consistency;
    done("park", [lost, why](Store& store) { return store.park(*lost.instance, why, lost, std::nullopt); });
    const auto& known = world_.promises().instances();
    const auto& names = world_.workflows().hints.signal_names;
    if (known.empty() || names.empty()) return;
    CorrelatedSignal signal;
    signal.id = name("letter");
    signal.name = world_.dice().pick(names);
    signal.payload = random_payload(world_.dice(), 0);
    const Message message = message_of(signal, world_.dice().pick(known), false);
    DeadLetter letter;
    letter.instance = message.target;
    letter.kind = "message";
    letter.envelope = Json::object({{"kind", to_string(message.kind)}, {"body", message.body}});
    letter.reason = "put aside";
    letter.node = "clerk";
    use<std::int64_t>("put dead letter", [letter](Store& store) { return store.put_dead_letter(letter); });
  }

  World& world_;
  int names_ = 0;
  std::uint64_t fence_ = 0;
  std::int64_t audited_ = 0;
};

}  // namespace

void run_clerk(World& world, int) {
  Clerk clerk(world);
  for (int i = 0; i < world.plan().actions / 3; ++i) {
    world.scheduler().sleep(world.dice().below(300'000));
    clerk.act();
  }
  while (!world.calm()) world.scheduler().sleep(60'000);
  world.scheduler().sleep(120'000);
  clerk.check();
}

}  // namespace cairn::sim
