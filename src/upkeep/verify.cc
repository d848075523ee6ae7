#include "upkeep/verify.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "definition/program.h"
#include "store/audit_chain.h"
#include "store/projection.h"

namespace cairn {

namespace {

bool is_open(TaskStatus status) { return status == TaskStatus::open || status == TaskStatus::assigned; }

// Whether `exclude` of the task at `step` lists the person as text. The recursion is bounded: definitions have a
// limited depth.
bool lists(const Json& node, const std::string& step, const std::string& person) {
  if (node.is_array()) {
    return std::any_of(node.items().begin(), node.items().end(),
                       [&](const Json& item) { return lists(item, step, person); });
  }
  if (!node.is_object()) return false;
  const auto excludes = [&](const Json& task) {
    const Json& exclude = task["exclude"];
    return exclude.is_array() &&
           std::find(exclude.items().begin(), exclude.items().end(), Json(person)) != exclude.items().end();
  };
  if (node["id"] == Json(step)) {
    if (excludes(node["task"])) return true;
    if (node["first"].is_array()) {
      for (const Json& option : node["first"].items()) {
        if (excludes(option["task"])) return true;
      }
    }
  }
  return std::any_of(node.members().begin(), node.members().end(),
                     [&](const Json::Member& member) { return lists(member.value, step, person); });
}

class Check {
 public:
  explicit Check(Store& store, std::function<bool()> stop = {}) : store_(store), stop_(std::move(stop)) {}

  Result<Verification> run() {
    CAIRN_TRY_VOID(check_pages());
    CAIRN_TRY_VOID(continue_after(check_instances(), "instances"));
    const auto tasks = check_tasks({});
    CAIRN_TRY_VOID(continue_after(tasks, "tasks"));
    if (!tasks) CAIRN_TRY_VOID(continue_after(check_tasks_by_instance(), "tasks"));
    CAIRN_TRY_VOID(continue_after(check_runs(), "runs"));
    CAIRN_TRY_VOID(continue_after(check_queue(), "the queue of runs"));
    CAIRN_TRY_VOID(continue_after(check_pieces(), "pieces"));
    CAIRN_TRY_VOID(continue_after(check_dead_letters(), "dead letters"));
    CAIRN_TRY_VOID(continue_after(check_outbox(), "events"));
    CAIRN_TRY_VOID(continue_after(check_audit(), "the audit trail"));
    return std::move(report_);
  }

  Result<Verification> run(const InstanceId& id) {
    only_ = id;
    CAIRN_TRY(const auto row, store_.find_instance(id));
    if (!row) return std::move(report_);
    CAIRN_TRY_VOID(check_instance(*row));
    CAIRN_TRY_VOID(check_tasks(id));
    CAIRN_TRY_VOID(check_runs());
    return std::move(report_);
  }

 private:
  Result<void> may_continue() const {
    if (!stop_ || !stop_()) return {};
    return Error{ErrorCode::unavailable, "the server stops before the store is checked; ask again"};
  }

  void find(const char* invariant, const std::string& subject, std::string message) {
    report_.findings.push_back({invariant, subject, std::move(message)});
  }

  // Unreadable data is a finding; the remaining checks continue.
  Result<void> continue_after(const Result<void>& checked, const std::string& subject) {
    if (checked || checked.error().code != ErrorCode::corrupt) return checked;
    find("I-34 readable", subject, checked.error().message);
    return {};
  }
  void name_unreadable(const std::vector<std::string>& rows) {
    for (const std::string& row : rows) {
      const std::size_t colon = row.find(": ");
      find("I-34 readable", row.substr(0, colon), colon == std::string::npos ? "" : row.substr(colon + 2));
    }
  }

  // Checks below the rows: damage on disk.
  Result<void> check_pages() {
    constexpr std::size_t faults_max = 1000;
    CAIRN_TRY(const std::vector<StoreFault> faults, store_.faults(faults_max));
    for (const StoreFault& fault : faults) find("I-35 pages", fault.place, fault.message + ": " + fault.subject);
    if (faults.size() >= faults_max) find("I-35 pages", "store", "there may be more violations than are listed here");
    return {};
  }

  Result<void> check_instances() {
    InstanceFilter everything;
    everything.deleted = true;
    PageRequest page{500, ""};
    do {
      CAIRN_TRY_VOID(may_continue());
      CAIRN_TRY(const Page<InstanceRow> rows, store_.list_instances(everything, page));
      for (const InstanceRow& row : rows.items) {
        CAIRN_TRY_VOID(continue_after(check_instance(row), "instance " + row.id.value));
      }
      name_unreadable(rows.unreadable);
      page.cursor = rows.next_cursor;
    } while (!page.cursor.empty());
    return {};
  }

  Result<void> check_instance(const InstanceRow& row) {
    ++report_.instances;
    const std::string subject = "instance " + row.id.value;
    auto stored = store_.find_snapshot(row.id);
    if (!stored) {
      if (stored.error().code != ErrorCode::corrupt && stored.error().code != ErrorCode::unsupported) {
        return stored.error();
      }
      // Already suspended: operators know about it.
      if (row.status != Status::suspended) find("I-02 snapshot reads", subject, stored.error().message);
      return {};
    }
    if (!*stored) {
      find("I-02 snapshot reads", subject, "it has no snapshot");
      return {};
    }
    const Snapshot& snapshot = **stored;
    if (row.state_version != snapshot.state_version) {
      find("I-01 versions", subject,
           "the row has state version " + std::to_string(row.state_version) + ", the snapshot " +
               std::to_string(snapshot.state_version));
    }
    const bool parked =
        row.status == Status::suspended && row.error && row.error->failure_class == FailureClass::consistency;
    if (row.status != snapshot.status && !parked) {
      find("I-12 projection", subject,
           std::string("its row says ") + to_string(row.status) + ", its snapshot " + to_string(snapshot.status));
    }
    CAIRN_TRY_VOID(check_uses(snapshot, subject));
    CAIRN_TRY_VOID(check_history(snapshot, subject));
    check_strands(snapshot, subject);
    check_kept(snapshot, subject);
    CAIRN_TRY_VOID(check_waits(snapshot, subject));
    CAIRN_TRY_VOID(check_definition(snapshot, subject));
    CAIRN_TRY_VOID(check_four_eyes(snapshot, subject));
    if (snapshot.parent) CAIRN_TRY_VOID(check_parent(snapshot, subject));
    if (is_final(snapshot.status)) {
      if (!snapshot.waits.empty() || !snapshot.strands.empty())
        find("I-22 terminal is final", subject, "it has ended but still has waits");
      if (!row.ended_at) find("I-22 terminal is final", subject, "it has ended but has no end time");
    } else if (!parked) {
      CAIRN_TRY_VOID(check_alive(snapshot, subject));
    }
    return {};
  }

  // The store knows exactly the pieces that the snapshot needs. Reading the snapshot has checked their texts.
  Result<void> check_uses(const Snapshot& snapshot, const std::string& subject) {
    CAIRN_TRY(const std::vector<std::string> stored, store_.list_pieces(snapshot.instance));
    static const std::vector<std::string> none;
    const std::vector<std::string>& needed = snapshot.pieces.set ? snapshot.pieces.set->hashes : none;
    std::vector<std::string> differ;
    std::set_difference(needed.begin(), needed.end(), stored.begin(), stored.end(), std::back_inserter(differ));
    for (const std::string& hash : differ) find("I-36 pieces", subject, "it needs piece " + hash + " without a use");
    differ.clear();
    std::set_difference(stored.begin(), stored.end(), needed.begin(), needed.end(), std::back_inserter(differ));
    for (const std::string& hash : differ) find("I-36 pieces", subject, "it has a use of piece " + hash + ", which it does not need");
    return {};
  }

  // Pieces and uses that no check of an instance meets.
  Result<void> check_pieces() {
    constexpr std::size_t faults_max = 1000;
    CAIRN_TRY(const std::vector<PieceFault> faults, store_.piece_faults(faults_max));
    for (const PieceFault& fault : faults) {
      find("I-36 pieces", fault.hash.empty() ? "pieces" : "piece " + fault.hash, fault.message);
    }
    if (faults.size() == faults_max) find("I-36 pieces", "store", "there may be more such pieces than are listed here");
    return {};
  }

  Result<void> check_history(const Snapshot& snapshot, const std::string& subject) {
    PageRequest page{1000, ""};
    std::uint64_t last = 0;
    bool first = true;
    do {
      CAIRN_TRY_VOID(may_continue());
      CAIRN_TRY(const Page<HistoryRow> rows, store_.history(snapshot.instance, page));
      for (const HistoryRow& row : rows.items) {
        if (row.state_version < last) find("I-01 versions", subject, "the state versions in its history decrease");
        if (row.state_version > snapshot.state_version)
          find("I-01 versions", subject, "its history is ahead of its snapshot");
        if (first && row.state_version != 1)
          find("I-01 versions", subject, "its history does not begin with state version 1");
        first = false;
        last = row.state_version;
      }
      name_unreadable(rows.unreadable);
      page.cursor = rows.next_cursor;
    } while (!page.cursor.empty());
    return {};
  }

  // Every strand except the main one has a parent, and waits and strands refer to each other.
  void check_strands(const Snapshot& snapshot, const std::string& subject) {
    std::set<std::uint64_t> strands;
    std::multiset<std::string> waited;
    for (const Strand& strand : snapshot.strands) {
      const bool is_main = strand.parent == 0;
      if (is_main != strands.empty()) find("I-21 strands", subject, "it must have exactly one main strand");
      if (!is_main && !strands.contains(strand.parent)) {
        find("I-21 strands", subject, "strand " + std::to_string(strand.id) + " joins a strand that does not exist");
      }
      if (!strands.insert(strand.id).second) {
        find("I-21 strands", subject, "strand " + std::to_string(strand.id) + " exists twice");
      }
      for (const WaitToken& token : strand.waits) waited.insert(token.value);
    }
    for (const Wait& wait : snapshot.waits) {
      if (waited.count(wait.token.value) != 1 || !strands.contains(wait.strand)) {
        find("I-05 waits", subject, "the wait of step " + wait.step + " does not belong to exactly one strand");
      }
      waited.erase(wait.token.value);
    }
    if (!waited.empty()) find("I-05 waits", subject, "a strand refers to a wait that is not open");
    if (snapshot.status != Status::waiting) return;
    std::set<std::uint64_t> joining;
    for (const Strand& strand : snapshot.strands) joining.insert(strand.parent);
    for (const Strand& strand : snapshot.strands) {
      if (strand.waits.empty() && !joining.contains(strand.id)) {
        find("I-07 stranded", subject, "strand " + std::to_string(strand.id) + " has no wait and joins no strand");
      }
    }
  }

  // A signal is consumed once, so it is never buffered twice.
  void check_kept(const Snapshot& snapshot, const std::string& subject) {
    std::set<std::string> kept;
    for (const BufferedSignal& signal : snapshot.signals) {
      if (!signal.id.empty() && !kept.insert(signal.id).second) {
        find("I-10 signals", subject, "signal " + signal.id + " is buffered twice");
      }
    }
  }

  // The projection rows agree with the snapshot.
  Result<void> check_waits(const Snapshot& snapshot, const std::string& subject) {
    CAIRN_TRY(const std::vector<Wait> rows, store_.list_waits(snapshot.instance));
    std::map<std::string, const Wait*> stored;
    for (const Wait& wait : rows) stored[wait.token.value] = &wait;
    for (const Wait& wait : snapshot.waits) {
      const auto found = stored.find(wait.token.value);
      if (!has_row(wait)) {
        // Earlier versions wrote one.
      } else if (found == stored.end()) {
        find("I-05 waits", subject, "the wait of step " + wait.step + " has no row");
      } else if (*found->second != project_wait(wait)) {
        find("I-05 waits", subject, "the wait of step " + wait.step + " differs from its row");
      }
      stored.erase(wait.token.value);
    }
    for (const BufferedSignal& kept : snapshot.signals) {
      if (!kept.until || is_final(snapshot.status)) continue;
      if (stored.erase(kept.token.value) != 1) {
        find("I-05 waits", subject, "the timer of the kept signal " + kept.name + " has no row");
      }
    }
    for (const auto& [token, wait] : stored) {
      if (!has_row(*wait)) continue;
      find("I-05 waits", subject, "the wait row of step " + wait->step + " is not in the snapshot");
    }

    CAIRN_TRY(const std::vector<DueTimer> timers, store_.list_timers(snapshot.instance));
    std::set<std::string> held;
    for (const HeldWakeup& wakeup : snapshot.held) held.insert(wakeup.token.value);
    for (const Wait& wait : snapshot.waits) {
      if (wait.kind != WaitKind::timer || held.contains(wait.token.value)) continue;
      const auto due = std::count_if(timers.begin(), timers.end(), [&](const DueTimer& timer) {
        return timer.token == wait.token && wait.until && timer.due == whole_ms_up(*wait.until);
      });
      if (due != 1)
        find("I-08 timers", subject,
             "the timed wait of step " + wait.step + " has " + std::to_string(due) + " timer rows");
    }
    for (const BufferedSignal& kept : snapshot.signals) {
      if (!kept.until || is_final(snapshot.status)) continue;
      const auto due =
          std::count_if(timers.begin(), timers.end(), [&](const DueTimer& timer) { return timer.token == kept.token; });
      if (due != 1) {
        find("I-08 timers", subject, "the kept signal " + kept.name + " has " + std::to_string(due) + " timer rows");
      }
    }
    return {};
  }

  // The row has the exclusion of the moment when the task was opened. Only a name that the definition itself lists was
  // certainly excluded at the completion too.
  Result<bool> is_always_excluded(const TaskRow& row) {
    CAIRN_TRY(const auto instance, store_.find_instance(row.instance));
    if (!instance) return false;
    CAIRN_TRY(const auto definition, store_.find_definition(instance->program.name, instance->program.version));
    return definition && lists(definition->canonical, row.step, row.completed_by);
  }

  // Only instances with a four-eyes group have completed tasks in their snapshot.
  Result<void> check_four_eyes(const Snapshot& snapshot, const std::string& subject) {
    if (snapshot.completed_tasks.empty()) return {};
    CAIRN_TRY(const auto definition, store_.find_definition(snapshot.program.name, snapshot.program.version));
    if (!definition) return {};
    const auto program = compile_program(definition->canonical);
    if (!program) return {};
    for (const CompletedTask& one : snapshot.completed_tasks) {
      const auto group = (*program)->four_eyes.find(one.name);
      if (group == (*program)->four_eyes.end()) continue;
      for (const CompletedTask& other : snapshot.completed_tasks) {
        if (one.by != other.by || one.name >= other.name || !group->second.contains(other.name)) continue;
        find("I-14 four eyes", subject, one.by + " completed both " + one.name + " and " + other.name);
      }
    }
    return {};
  }

  Result<void> check_definition(const Snapshot& snapshot, const std::string& subject) {
    const auto known = definitions_.find(snapshot.program);
    if (known == definitions_.end()) {
      CAIRN_TRY(const auto row, store_.find_definition(snapshot.program.name, snapshot.program.version));
      definitions_[snapshot.program] = row && row->digest == snapshot.program.digest;
    }
    if (!definitions_[snapshot.program]) {
      find("I-24 definition", subject,
           "its definition " + snapshot.program.name + " " + snapshot.program.version +
               " is not stored with that digest");
    }
    return {};
  }

  Result<void> check_parent(const Snapshot& snapshot, const std::string& subject) {
    CAIRN_TRY(const auto parent, store_.find_instance(snapshot.parent->instance));
    if (!parent) find("I-25 whole trees", subject, "its parent " + snapshot.parent->instance.value + " does not exist");
    return {};
  }

  // Something must be able to advance it.
  Result<void> check_alive(const Snapshot& snapshot, const std::string& subject) {
    CAIRN_TRY(const std::vector<Message> messages, store_.list_messages(snapshot.instance));
    if (snapshot.waits.empty() && messages.empty() && snapshot.status == Status::waiting) {
      find("I-07 stranded", subject, "it has not ended but has no waits");
    }
    for (const Wait& wait : snapshot.waits) {
      if (wait.kind == WaitKind::task) {
        CAIRN_TRY(const auto task, store_.find_task({wait.target}));
        if (!task || !is_open(task->status)) {
          find("I-12 tasks", subject, "it waits for task " + wait.target + ", which is not open");
        }
      } else if (wait.kind == WaitKind::subworkflow) {
        CAIRN_TRY(const auto child, store_.find_instance({wait.target}));
        const bool told = !messages.empty() || is_held(snapshot, wait.token);
        if (!child) {
          find("I-20 children", subject, "its child " + wait.target + " does not exist");
        } else if (is_final(child->status) && !told) {
          find("I-20 children", subject, "its child " + wait.target + " has ended, but it was not notified");
        }
      } else if (wait.kind == WaitKind::run) {
        CAIRN_TRY(const auto run, store_.find_run({wait.target}));
        if (!run) {
          find("I-07 stranded", subject, "its run " + wait.target + " does not exist");
        } else if (run->deleted_at && !is_final(run->status)) {
          find("I-07 stranded", subject,
               "its run " + wait.target + " was deleted before it ended and will never finish");
        } else if (is_final(run->status) && !is_held(snapshot, wait.token)) {
          find("I-07 stranded", subject,
               "its run " + wait.target + " is " + to_string(run->status) + ", but it still waits");
        }
      }
    }
    return {};
  }

  static bool is_held(const Snapshot& snapshot, const WaitToken& token) {
    return std::any_of(snapshot.held.begin(), snapshot.held.end(),
                       [&](const HeldWakeup& wakeup) { return wakeup.token == token; });
  }

  Result<void> check_tasks(const std::optional<InstanceId>& instance) {
    TaskFilter everything;
    everything.closed = true;
    everything.instance = instance;
    PageRequest page{500, ""};
    do {
      CAIRN_TRY_VOID(may_continue());
      CAIRN_TRY(const Page<TaskRow> rows, store_.list_tasks(everything, page));
      for (const TaskRow& row : rows.items) CAIRN_TRY_VOID(continue_after(check_task(row), "task " + row.id.value));
      name_unreadable(rows.unreadable);
      page.cursor = rows.next_cursor;
    } while (!page.cursor.empty());
    return {};
  }

  // One unreadable task makes the list of all tasks fail. The lists of other instances still work.
  Result<void> check_tasks_by_instance() {
    InstanceFilter everything;
    everything.deleted = true;
    PageRequest page{500, ""};
    do {
      CAIRN_TRY_VOID(may_continue());
      CAIRN_TRY(const Page<InstanceRow> rows, store_.list_instances(everything, page));
      for (const InstanceRow& row : rows.items) {
        CAIRN_TRY_VOID(continue_after(check_tasks(row.id), "tasks of instance " + row.id.value));
      }
      page.cursor = rows.next_cursor;
    } while (!page.cursor.empty());
    return {};
  }

  Result<void> check_task(const TaskRow& row) {
    ++report_.tasks;
    const std::string subject = "task " + row.id.value;
    if (is_open(row.status)) {
      auto snapshot = store_.find_snapshot(row.instance);
      if (snapshot && *snapshot) {
        const auto& waits = (**snapshot).waits;
        if (std::none_of(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.token == row.token; })) {
          find("I-12 tasks", subject, "it is open, but instance " + row.instance.value + " does not wait for it");
        }
      }
    }
    if (row.status == TaskStatus::completed &&
        std::find(row.exclude.begin(), row.exclude.end(), row.completed_by) != row.exclude.end()) {
      CAIRN_TRY(const bool always, is_always_excluded(row));
      if (always) find("I-14 four eyes", subject, row.completed_by + " completed it but was excluded");
    }
    CAIRN_TRY(const std::vector<TaskEvent> events, store_.task_events(row.id));
    bool closed = false;
    bool assigned = false;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const TaskEvent::Kind kind = events[i].kind;
      if ((i == 0) != (kind == TaskEvent::Kind::created))
        find("I-13 task events", subject, "its first event, and only that, must be `created`");
      if (kind == TaskEvent::Kind::commented) continue;
      if (closed) find("I-13 task events", subject, std::string(to_string(kind)) + " after it was closed");
      if (kind == TaskEvent::Kind::released && !assigned)
        find("I-13 task events", subject, "released while it was not assigned");
      if (kind == TaskEvent::Kind::assigned || kind == TaskEvent::Kind::reassigned) assigned = true;
      if (kind == TaskEvent::Kind::released) assigned = false;
      closed =
          kind == TaskEvent::Kind::completed || kind == TaskEvent::Kind::cancelled || kind == TaskEvent::Kind::expired;
    }
    if (events.empty()) find("I-13 task events", subject, "it has no events");
    if (closed == is_open(row.status)) {
      find("I-13 task events", subject,
           std::string("its last event does not match its status ") + to_string(row.status));
    }
    return {};
  }

  Result<void> check_runs() {
    RunFilter everything;
    everything.deleted = true;
    everything.instance = only_;
    PageRequest page{500, ""};
    do {
      CAIRN_TRY_VOID(may_continue());
      CAIRN_TRY(const Page<RunRow> rows, store_.list_runs(everything, page));
      for (const RunRow& row : rows.items) CAIRN_TRY_VOID(continue_after(check_run(row), "run " + row.id.value));
      name_unreadable(rows.unreadable);
      page.cursor = rows.next_cursor;
    } while (!page.cursor.empty());
    return {};
  }

  Result<void> check_run(const RunRow& row) {
    ++report_.runs;
    const std::string subject = "run " + row.id.value;
    if (row.status == RunStatus::leased && (!row.lease_until || row.leased_by.empty() || row.fence == 0)) {
      find("I-15 leases", subject, "it is leased but has no holder, fence or end");
    }
    if (row.status == RunStatus::pending && row.lease_until)
      find("I-15 leases", subject, "it is pending but has a lease");
    if (row.attempt > row.attempts_max) find("I-16 attempts", subject, "it had more attempts than allowed");
    if (static_cast<std::uint64_t>(row.leases) > row.fence)
      find("I-15 leases", subject, "its fence is lower than its number of leases");
    if (row.instance) CAIRN_TRY_VOID(check_intent(row, subject));
    if (!is_final(row.status) && row.instance) {
      CAIRN_TRY(const auto instance, store_.find_instance(*row.instance));
      if (instance && is_final(instance->status)) {
        find("I-23 cancelled work", subject,
             "instance " + row.instance->value + " has ended, but it is still " + to_string(row.status));
      }
    }
    return {};
  }

  // A run of an instance was requested by one of its steps, under a key that names the step.
  Result<void> check_intent(const RunRow& row, const std::string& subject) {
    if (!row.idempotency_key.starts_with(row.instance->value + "/")) {
      find("I-17 effect keys", subject, "its idempotency key does not name its instance");
    }
    auto snapshot = store_.find_snapshot(*row.instance);
    if (!snapshot) return {};  // unreadable: reported by the check of instances
    if (!*snapshot) {
      find("I-25 whole trees", subject, "its instance " + row.instance->value + " does not exist");
      return {};
    }
    if (is_final(row.status) || is_final((**snapshot).status)) return {};
    const auto& waits = (**snapshot).waits;
    const bool asked = std::any_of(waits.begin(), waits.end(), [&](const Wait& wait) {
      return wait.token == row.token && wait.target == row.id.value;
    });
    if (!asked) find("I-18 intents", subject, "instance " + row.instance->value + " does not wait for it");
    return {};
  }

  // A run is in the queue that its status requires: it can be leased, or its lease can expire.
  Result<void> check_queue() {
    constexpr std::size_t faults_max = 1000;
    CAIRN_TRY(const std::vector<QueueFault> faults, store_.queue_faults(faults_max));
    for (const QueueFault& fault : faults) find("I-33 queue", "run " + fault.run.value, text_of(fault.kind));
    if (faults.size() == faults_max) find("I-33 queue", "store", "there may be more such runs than are listed here");
    return {};
  }

  static const char* text_of(QueueFault::Kind kind) {
    switch (kind) {
      case QueueFault::Kind::not_queued:
        return "it is pending but not in the queue, so no worker will lease it; docs/verify.md describes the repair";
      case QueueFault::Kind::not_watched:
        return "it is leased, but the end of its lease is not watched; docs/verify.md describes the repair";
      case QueueFault::Kind::stray:
        return "it is in the queue but is not pending or is deleted; docs/verify.md describes the repair";
    }
    return "";
  }

  // Abandoned work has exactly one dead letter, which contains everything needed to replay it.
  Result<void> check_dead_letters() {
    std::set<std::string> runs;
    PageRequest page{500, ""};
    do {
      CAIRN_TRY_VOID(may_continue());
      CAIRN_TRY(const Page<DeadLetter> letters, store_.list_dead_letters(page));
      for (const DeadLetter& letter : letters.items) {
        const std::string subject = "dead letter " + std::to_string(letter.id);
        if (letter.kind.empty() || letter.envelope.is_null() || letter.reason.empty() || letter.node.empty()) {
          find("I-16 dead letters", subject, "its envelope, reason or node is missing");
        }
        const std::string run(letter.kind == "run" ? letter.envelope.text_or("run", "") : "");
        if (!run.empty() && !runs.insert(run).second) {
          find("I-16 dead letters", subject, "run " + run + " has two dead letters");
        }
      }
      name_unreadable(letters.unreadable);
      page.cursor = letters.next_cursor;
    } while (!page.cursor.empty());
    return {};
  }

  // An event is written once. Their order is not checked: an operator may have sent one again.
  Result<void> check_outbox() {
    std::set<std::string> ids;
    PageRequest page{1000, ""};
    do {
      CAIRN_TRY_VOID(may_continue());
      CAIRN_TRY(const Page<OutboxRow> rows, store_.list_outbox({}, page));
      for (const OutboxRow& row : rows.items) {
        if (!ids.insert(row.event.id.value).second) {
          find("I-19 outbox", "event " + row.event.id.value, "it was written twice");
        }
      }
      name_unreadable(rows.unreadable);
      page.cursor = rows.next_cursor;
    } while (!page.cursor.empty());
    return {};
  }

  Result<void> check_audit() {
    CAIRN_TRY(const AuditReport chain, verify_audit(store_, {}, stop_));
    if (chain.broken_at) {
      find("I-28 audit chain", "audit row " + std::to_string(*chain.broken_at), chain.why);
    }
    return {};
  }

  Store& store_;
  const std::function<bool()> stop_;
  std::optional<InstanceId> only_;
  Verification report_;
  std::map<ProgramKey, bool> definitions_;
};

}  // namespace

Result<Verification> verify_store(Store& store, const std::function<bool()>& stop) { return Check(store, stop).run(); }

Result<Verification> verify_instance(Store& store, const InstanceId& id) { return Check(store).run(id); }

}  // namespace cairn
