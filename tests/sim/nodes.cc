// The life of nodes: opening, the loops that a real process has as threads, and death.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "actors.h"
#include "store/open.h"
#include "upkeep/verify.h"
#include "world.h"

namespace cairn::sim {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

// In the world's own folder: messages that name it are the same in every run.
constexpr const char* store_path = "sim.db";

std::string short_id(const InstanceId& id) {
  constexpr std::size_t shown = 12;
  return id.value.size() > shown ? id.value.substr(id.value.size() - shown) : id.value;
}

// The kernel closes what a dead process had open, and its file locks go with it.
void close_lock_files() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code failed;
    const auto target = std::filesystem::read_symlink(entry.path(), failed);
    if (!failed && target.filename() == "sim.db.lock") ::close(std::atoi(entry.path().filename().c_str()));
  }
}

}  // namespace

void World::listen(int node, WakeupListener listener) {
  nodes_[static_cast<std::size_t>(node)].listener = std::move(listener);
}

void World::tell_node(int node, const Wakeup& wakeup) {
  Node& own = nodes_[static_cast<std::size_t>(node)];
  if (own.listener) own.listener(wakeup);
}

// The committing node is notified of its commit at once; the others through a channel that loses, delays and repeats
// messages. After a lost notification the node later gets an unspecific one and checks everything.
void World::tell(const Wakeup& wakeup) {
  const int here = scheduler_.current_node();
  for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
    if (!nodes_[static_cast<std::size_t>(node)].listener) continue;
    if (node == here) {
      tell_node(node, wakeup);
      continue;
    }
    const bool lost = strikes(Fault::wakeup_lost);
    const std::int64_t delay = lost || strikes(Fault::wakeup_late) ? 1 + dice_.below(60'000) : 0;
    const int times = strikes(Fault::wakeup_twice) ? 2 : 1;
    Wakeup told = wakeup;
    if (lost) {
      told = {};
      told.messages = told.runs = told.outbox = true;
      told.due = scheduler_.now();
    }
    scheduler_.spawn(node, "notice", [this, node, told, delay, times] {
      scheduler_.sleep(delay);
      for (int i = 0; i < times; ++i) tell_node(node, told);
    });
  }
}

void World::rest_until_runs(std::int64_t limit_ms) {
  const std::uint64_t worker = scheduler_.current();
  resting_.insert(worker);
  scheduler_.park(scheduler_.now_ms() + limit_ms);
  resting_.erase(worker);
}

void World::boot(int node) {
  for (;;) {
    open_node(node);
    if (nodes_[static_cast<std::size_t>(node)].up || failed()) return;
    scheduler_.sleep(1000);
  }
}

void World::open_node(int node) {
  Node& own = nodes_[static_cast<std::size_t>(node)];
  const auto drop = [&](const Error& error) {
    say("node " + std::to_string(node) + " cannot open: " + error.message);
    if (!is_transient(error)) broken({"I-02 store opens", error.message});
    own.core.reset();
    own.listener = nullptr;
    own.face.reset();
    own.own.reset();
  };
  Store* behind = shared_.get();
  if (plan_.store == StoreKind::sqlite) {
    auto opened = open_store(std::string("sqlite:") + store_path, scheduler_);
    if (!opened) return drop(opened.error());
    own.own = std::move(*opened);
    behind = own.own.get();
    behind->watch([this](const Wakeup& wakeup) { tell(wakeup); });
    check_recovered(*behind);
  }
  own.face = std::make_unique<NodeStore>(*this, node, *behind);
  CoreOptions options;
  options.node = "node" + std::to_string(node);
  options.snapshots_cached = static_cast<std::size_t>(plan_.snapshots_cached);
  options.limits.piece_bytes_min = static_cast<std::size_t>(plan_.piece_bytes_min);
  options.trace = true;
  options.yield = [this, node] {
    scheduler_.sleep(20 + dice_.below(400));
    stand_still(node);
  };
  auto opened = EngineCore::open(*own.face, std::move(options));
  if (!opened) return drop(opened.error());
  own.core = std::move(*opened);
  own.told_due.reset();
  own.messages = true;
  own.core->listeners().on_wakeup([this, node](const Wakeup& wakeup) {
    Node& woken = nodes_[static_cast<std::size_t>(node)];
    if (wakeup.messages) {
      woken.messages = true;
      scheduler_.wake(woken.message_loop);
    }
    if (wakeup.runs) {
      for (const std::uint64_t worker : resting_) scheduler_.wake(worker);
    }
    if (wakeup.outbox) scheduler_.wake(woken.publisher);
    if (wakeup.due && (!woken.told_due || *wakeup.due < *woken.told_due)) {
      woken.told_due = wakeup.due;
      scheduler_.wake(woken.timer_loop);
    }
  });
  if (plan_.local_leases) {
    std::vector<std::string> types = case_.hints.worker_types;
    own.core->leasing().lease_here(types, Duration::of_seconds(30), [this, node](RunRow run) {
      scheduler_.spawn(no_node, "local worker", [this, node, run] {
        const std::uint64_t epoch = nodes_[static_cast<std::size_t>(node)].epoch;
        scheduler_.sleep(dice_.below(2000));
        // It lives in the node's process and dies with it.
        if (nodes_[static_cast<std::size_t>(node)].epoch == epoch)
          execute_run(*this, run, "node" + std::to_string(node));
      });
    });
  }
  own.core->due().resume_interrupted_slices();
  own.timer_loop = scheduler_.spawn(node, "timers", [this, node] { run_timers(node); });
  own.message_loop = scheduler_.spawn(node, "messages", [this, node] { run_messages(node); });
  own.publisher = scheduler_.spawn(node, "publisher", [this, node] { run_publisher(node); });
  own.up = true;
  say("node " + std::to_string(node) + " is up");
}

// The same as Loops::run_timers, with a virtual clock.
void World::run_timers(int node) {
  Node& own = nodes_[static_cast<std::size_t>(node)];
  for (;;) {
    own.told_due.reset();
    if (own.core->due().fire_timers() + own.core->due().end_exhausted_runs() + own.core->due().expire_signals() > 0)
      continue;
    // Runs that wait for their time, or whose worker is gone, may have become free.
    for (const std::uint64_t worker : resting_) scheduler_.wake(worker);
    const auto due = own.core->due().next_due();
    if (!due) {
      scheduler_.sleep(1000);
      continue;
    }
    std::optional<Timestamp> armed = *due;
    for (;;) {
      if (own.told_due && (!armed || *own.told_due < *armed)) armed = own.told_due;
      own.told_due.reset();
      const std::int64_t until = armed ? armed->unix_ms() : never;
      if (until <= scheduler_.now_ms()) break;
      scheduler_.park(until);
    }
    own.messages = true;
    scheduler_.wake(own.message_loop);
    scheduler_.yield();
  }
}

void World::run_messages(int node) {
  Node& own = nodes_[static_cast<std::size_t>(node)];
  for (;;) {
    while (!own.messages) scheduler_.park(never);
    own.messages = false;
    while (own.core->due().dispatch_messages() > 0) {
    }
  }
}

void World::run_publisher(int node) {
  Node& own = nodes_[static_cast<std::size_t>(node)];
  for (;;) {
    Store& store = own.core->store();
    const SinkFilter sink{"world"};
    const OutboxClaim claim{sink.name, static_cast<std::size_t>(1 + dice_.below(10)), Duration::of_seconds(30)};
    auto claimed = store.claim_outbox({&sink, 1}, claim);
    std::vector<SinkResult> sent;
    if (claimed) {
      for (const OutboxRow& row : *claimed) {
        ledger_.published(row);
        sent.push_back({row.sequence, SinkResult::Kind::taken, row.attempts + 1, store.now()});
        scheduler_.yield();
      }
    }
    if (!sent.empty()) static_cast<void>(store.record_sink_results(sink.name, sent));
    if (sent.empty()) scheduler_.park(scheduler_.now_ms() + (claimed ? 300'000 : 1'000));
  }
}

void World::crash(int node, const std::string& why, bool power_loss) {
  Node& own = nodes_[static_cast<std::size_t>(node)];
  ++crashes_;
  ++own.epoch;
  own.up = false;
  say("node " + std::to_string(node) + " dies: " + why);
  trace_.reach("fault " + std::string(power_loss ? "power_loss" : "crash"));
  // Left as they are: a dead process runs no destructor.
  own.listener = nullptr;
  static_cast<void>(own.core.release());
  static_cast<void>(own.face.release());
  static_cast<void>(own.own.release());
  own.paused_until = 0;
  if (plan_.store == StoreKind::sqlite) {
    disk_.crash(power_loss);
    close_lock_files();
  }
  const std::int64_t down = dice_.chance(50) ? dice_.below(2000) : dice_.below(60'000);
  scheduler_.spawn(no_node, "restart", [this, node, down] {
    scheduler_.sleep(down);
    scheduler_.spawn(node, "boot", [this, node] { boot(node); });
  });
  scheduler_.kill(node);
}

void World::writing(int node, std::span<const Unit> units) {
  auto& in_doubt = nodes_[static_cast<std::size_t>(node)].in_doubt;
  in_doubt.insert(in_doubt.end(), units.begin(), units.end());
}

void World::written(int node, std::span<const Unit> units, const Result<std::vector<CommitOutcome>>& outcomes) {
  Node& own = nodes_[static_cast<std::size_t>(node)];
  // An error of the disk leaves the unit in doubt: a commit whose sync failed may be there after a restart.
  if (!outcomes) return;
  own.in_doubt.clear();
  Store& behind = *store();
  for (std::size_t i = 0; i < units.size(); ++i) {
    if ((*outcomes)[i].kind != CommitOutcome::Kind::done) {
      if (units.size() > 1) trace_.reach("batch refused");
      continue;
    }
    cover(units[i]);
    if (units.size() > 1) trace_.reach("batch done");
    std::string line = "commit by node " + std::to_string(node) + " (" + scheduler_.current_name() + ")";
    for (const Advance& advance : units[i].advances) {
      line += " " + short_id(advance.after.instance) + "@" + std::to_string(advance.after.state_version) + " " +
              to_string(advance.after.status);
    }
    say(line);
    chronicle_.committed(units[i], (*outcomes)[i], behind.now());
    if (plan_.record) recorder_.committed(units[i], behind.now());
    for (const Advance& advance : units[i].advances) {
      if (advance.outcome != Advance::Outcome::applied) continue;
      check_touched(behind, advance.after.instance);
    }
  }
}

void World::check_recovered(Store& store) {
  Node& own = nodes_.front();
  for (const Unit& unit : std::exchange(own.in_doubt, {})) {
    if (chronicle_.resolve_doubt(unit, store, store.now()) && plan_.record) recorder_.committed(unit, store.now());
  }
  chronicle_.compare(store, "P-03 durability");
  const auto checked = verify_store(store);
  if (!checked) return;
  for (const Finding& finding : checked->findings) {
    broken({finding.invariant, "after a restart: " + finding.subject + ": " + finding.message});
  }
}

}  // namespace cairn::sim
