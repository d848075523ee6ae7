#include "world.h"

#include <algorithm>

#include "actors.h"
#include "base/entropy.h"
#include "base/process_end.h"
#include "coverage.h"
#include "definition/definition.h"
#include "store/memory/memory_store.h"
#include "upkeep/verify.h"

namespace cairn::sim {

namespace {
constexpr std::int64_t first_instant_ms = 1'700'000'000'000;
constexpr std::int64_t end_of_time_ms = 200'000'000'000'000;
constexpr std::uint64_t turmoil_steps_max = 60'000;
constexpr std::uint64_t calm_steps_max = 400'000;
}  // namespace

World::World(const Plan& plan, bool print_trace)
    : plan_(plan),
      dice_(plan.seed ^ 0x5EED),
      fault_dice_(plan.seed ^ 0xFA017),
      entropy_(plan.seed ^ 0xE27),
      scheduler_(plan.seed ^ 0x5C4ED, Timestamp::of_unix_ms(first_instant_ms)),
      case_(generate_case(plan.workflow_seed)),
      chronicle_([this](Violation violation) { broken(std::move(violation)); }),
      ledger_([this](Violation violation) { broken(std::move(violation)); }),
      promises_([this](Violation violation) { broken(std::move(violation)); }),
      disk_(plan.seed ^ 0xD15C, scheduler_),
      start_ms_(first_instant_ms) {
  trace_.print_all(print_trace);
  nodes_.resize(static_cast<std::size_t>(plan.nodes));
  set_entropy_source([this](std::span<std::uint8_t> bytes) {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(entropy_.next() >> 32);
  });
  if (plan.store == StoreKind::memory) {
    shared_ = std::make_unique<MemoryStore>(scheduler_);
    shared_->keep_apart(static_cast<std::size_t>(plan.piece_bytes_min));
    shared_->watch([this](const Wakeup& wakeup) { tell(wakeup); });
  } else {
    // Also while a node recovers: its second failure meets it half open.
    set_process_end([this](int) { crash(0, "its disk failed it", false); });
    disk_.mount([this](Fault fault) { return strikes(fault); }, [this] { crash(0, "power lost", true); });
  }
}

World::~World() {
  set_entropy_source({});
  set_process_end({});
}

Store* World::store() {
  if (shared_) return shared_.get();
  return nodes_.front().own.get();
}

void World::broken(Violation violation) {
  if (violation_) return;
  say("BROKEN " + violation.invariant + ": " + violation.message);
  violation_ = std::move(violation);
}

bool World::strikes(Fault fault) {
  if (calm_ || fault_dice_.below(10'000) >= plan_.rate(fault)) return false;
  trace_.reach(std::string("fault ") + to_string(fault));
  return true;
}

std::optional<int> World::some_node() {
  std::vector<int> up;
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
    if (nodes_[static_cast<std::size_t>(node)].up) up.push_back(node);
  }
  if (up.empty()) return std::nullopt;
  return dice_.pick(up);
}

void World::stand_still(int node) {
  const Node& own = nodes_[static_cast<std::size_t>(node)];
  while (own.paused_until > scheduler_.now_ms()) scheduler_.park(own.paused_until);
}

std::optional<Error> World::arrive(int node, const char* verb) {
  trace_.reach(std::string("verb ") + verb);
  Node& own = nodes_[static_cast<std::size_t>(node)];
  if (own.up && strikes(Fault::crash)) crash(node, std::string("before ") + verb, false);
  if (own.up && strikes(Fault::pause)) own.paused_until = scheduler_.now_ms() + 1 + dice_.below(600'000);
  if (strikes(Fault::slow)) {
    scheduler_.sleep(dice_.below(30'000));
  } else {
    scheduler_.yield();
  }
  stand_still(node);
  if (plan_.store == StoreKind::sqlite) return std::nullopt;
  if (strikes(Fault::outage)) {
    store_down_until_ = scheduler_.now_ms() + dice_.below(120'000);
    say("the store is down");
  }
  if (store_down_until_ > scheduler_.now_ms()) {
    scheduler_.sleep(dice_.below(1000));
    return Error{ErrorCode::unavailable, "the store is down"};
  }
  if (strikes(Fault::error)) return Error{ErrorCode::unavailable, std::string(verb) + " failed"};
  return std::nullopt;
}

std::optional<Error> World::leave(int node, const char* verb, bool writes) {
  Node& own = nodes_[static_cast<std::size_t>(node)];
  if (own.up && strikes(Fault::crash)) crash(node, std::string("after ") + verb, false);
  scheduler_.yield();
  stand_still(node);
  if (writes && plan_.store == StoreKind::memory && strikes(Fault::lost_answer)) {
    say(std::string("the answer of ") + verb + " is lost");
    return Error{ErrorCode::unavailable, std::string("the answer of ") + verb + " was lost"};
  }
  return std::nullopt;
}

void World::check_touched(Store& store, const InstanceId& id) {
  const auto checked = verify_instance(store, id);
  if (!checked) return broken({"I-02 snapshot reads", "instance " + id.value + ": " + checked.error().message});
  for (const Finding& finding : checked->findings) {
    broken({finding.invariant, finding.subject + ": " + finding.message});
  }
}

void World::cover(const Unit& unit) {
  for (const Advance& advance : unit.advances) {
    trace_.reach(std::string("status ") + to_string(advance.after.status));
    if (advance.after.error) {
      trace_.reach(std::string("error ") + to_string(advance.after.error->failure_class) + "/" +
                   advance.after.error->code);
    }
    const auto found = program(advance.after.program.name, advance.after.program.version);
    if (!found) continue;
    for (const std::uint32_t step : advance.trace.steps) trace_.reach("step " + kind_of(found->steps[step].body));
    for (const std::uint32_t block : advance.trace.blocks) trace_.reach("lane " + lane_of(found->blocks[block].lane));
  }
}

std::shared_ptr<const Program> World::program(const std::string& name, const std::string& version) const {
  const auto found = programs_.find({name, version});
  return found == programs_.end() ? nullptr : found->second;
}

std::shared_ptr<const Program> World::next_version() {
  Json source = dice_.pick(case_.definitions);
  source.set("version", "2." + std::to_string(++versions_) + ".0");
  auto made = definition_of(source);
  if (made.program) programs_[{made.program->name, made.program->version}] = made.program;
  return made.program;
}

void World::deploy_all() {
  for (const Json& source : case_.definitions) {
    const Definition made = definition_of(source);
    if (!made.valid()) {
      return broken({"generator", "workflow seed " + std::to_string(plan_.workflow_seed) + ": " +
                                      (made.diagnostics.empty() ? "invalid" : made.diagnostics.front().message)});
    }
    programs_[{made.program->name, made.program->version}] = made.program;
    const auto deployed = ask<bool>("deploy", [program = made.program](EngineCore& core) -> Result<bool> {
      CAIRN_TRY_VOID(core.registry().deploy(program));
      return true;
    });
    if (!deployed || !*deployed) {
      broken({"deploy", deployed ? deployed->error().message : "no answer"});
      return;
    }
  }
}

void World::run_until(const std::function<bool()>& done, std::uint64_t steps_max) {
  const std::uint64_t until = scheduler_.steps() + steps_max;
  while (!failed() && !done() && scheduler_.steps() < until) {
    if (!scheduler_.step(end_of_time_ms)) return;
  }
}

WorldOutcome World::run() {
  calm_ = true;
  int left = 0;
  bool ready = false;
  const auto actor = [&](const char* name, int count, void (*body)(World&, int), bool awaited) {
    for (int i = 0; i < count; ++i) {
      if (awaited) ++left;
      scheduler_.spawn(no_node, name + std::to_string(i), [this, i, body, awaited, &left] {
        body(*this, i);
        if (awaited) --left;
      });
    }
  };
  for (int node = 0; node < plan_.nodes; ++node) {
    scheduler_.spawn(node, "boot", [this, node] { boot(node); });
  }
  run_until([this] { return std::all_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.up; }); },
            turmoil_steps_max);
  scheduler_.spawn(no_node, "deploy", [this, &ready] {
    deploy_all();
    ready = true;
  });
  run_until([&] { return ready; }, turmoil_steps_max);
  calm_ = false;

  actor("client", plan_.clients, run_client, true);
  actor("worker", plan_.workers, run_worker, false);
  actor("operator", plan_.operators, run_operator, true);
  actor("clerk", plan_.clerks, run_clerk, false);
  run_until([&] { return left == 0; }, turmoil_steps_max);

  become_calm();
  bool finished = false;
  scheduler_.spawn(no_node, "finisher", [this, &finished] {
    finish_everything(*this);
    finished = true;
  });
  run_until([&] { return finished; }, calm_steps_max);
  if (!failed() && !finished) broken({"I-32 liveness", "nothing was going on any more, or it never ended"});
  if (!failed()) check_end();

  WorldOutcome outcome;
  outcome.violation = violation_;
  outcome.hash = trace_.hash();
  outcome.last.assign(trace_.last().begin(), trace_.last().end());
  outcome.reached = trace_.reached();
  outcome.commits = chronicle_.commits();
  outcome.crashes = crashes_;
  outcome.steps = scheduler_.steps();
  outcome.virtual_ms = scheduler_.now_ms() - start_ms_;
  if (plan_.record && !failed()) outcome.record = record();
  return outcome;
}

Json World::record() {
  Json::Array definitions;
  for (const Json& source : case_.definitions) definitions.push_back(definition_of(source).canonical);
  auto made =
      recorder_.finish(*store(), Json::object({{"workflow_seed", static_cast<std::int64_t>(plan_.workflow_seed)},
                                               {"environment_seed", static_cast<std::int64_t>(plan_.seed)},
                                               {"note", write_plan(plan_)},
                                               {"definitions", definitions},
                                               {"end", scheduler_.now_ms()}}));
  if (!made) return Json();
  // The recorder reads unpublished events, and here all are published.
  Json::Array events;
  PageRequest page{1000, ""};
  do {
    const auto rows = store()->list_outbox({}, page);
    if (!rows) return Json();
    for (const OutboxRow& row : rows->items) {
      events.push_back(Json::object({{"instance", row.instance.value},
                                     {"type", row.event.type},
                                     {"subject", row.event.subject},
                                     {"data", row.event.data}}));
    }
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  made->set("events", events);
  return std::move(*made);
}

void World::become_calm() {
  calm_ = true;
  store_down_until_ = 0;
  for (Node& node : nodes_) node.paused_until = 0;
  say("calm");
  // A node whose disk failed it refuses everything until it is started again.
  if (plan_.store == StoreKind::sqlite && nodes_.front().up) crash(0, "restarted by its operator", false);
}

// A run without a report in time has ended with one dead letter, so that operators notice it.
void World::check_dead_letters(Store& store) {
  std::map<std::string, int> letters;
  PageRequest page{100, ""};
  do {
    const auto rows = store.list_dead_letters(page);
    if (!rows) return broken({"I-16 attempts", rows.error().message});
    for (const DeadLetter& letter : rows->items) {
      if (letter.kind == "run") ++letters[std::string(letter.envelope.text_or("run", ""))];
    }
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  for (const auto& [id, run] : chronicle_.runs()) {
    if (run.status != RunStatus::failed) continue;
    const auto row = store.find_run({id});
    if (!row || !*row || (**row).error.text_or("code", "") != "lease_expired") continue;
    if (letters[id] != 1) {
      broken({"I-16 attempts", "run " + id + " was given up and has " + std::to_string(letters[id]) + " dead letters"});
    }
  }
}

void World::check_end() {
  Store* behind = store();
  if (behind == nullptr) return broken({"I-32 liveness", "the store never came back"});
  chronicle_.compare(*behind, "I-01 versions");
  check_dead_letters(*behind);
  promises_.check(*behind, chronicle_);
  ledger_.check(*behind, chronicle_);
  const auto checked = verify_store(*behind);
  if (!checked) return broken({"I-02 snapshot reads", checked.error().message});
  for (const Finding& finding : checked->findings) {
    broken({finding.invariant, finding.subject + ": " + finding.message});
  }
}

}  // namespace cairn::sim
