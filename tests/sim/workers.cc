// Those who make calls. They are outside: their reports travel, and they die without a word.
#include "actors.h"

namespace cairn::sim {

namespace {
constexpr std::int64_t lease_ms = 30'000;

Failure failure_of(Dice& dice) {
  Failure failure;
  failure.failure_class = dice.chance(70) ? FailureClass::transport : FailureClass::timeout;
  failure.code = failure.failure_class == FailureClass::timeout ? "call_timeout" : "connect_failed";
  failure.message = "the other side did not answer";
  return failure;
}

// Does the work, or dies or gives up over it; then there is nothing to report.
std::optional<RunReport> work_on(World& world, const RunRow& run, const std::string& worker) {
  Dice& dice = world.dice();
  if (world.strikes(Fault::worker_dies)) return std::nullopt;
  world.scheduler().sleep(dice.below(5'000));
  if (world.strikes(Fault::worker_hangs)) world.scheduler().sleep(lease_ms + dice.below(120'000));
  if (dice.chance(20)) {
    RunChange pulse;
    pulse.kind = dice.chance(80) ? RunChange::Kind::heartbeat : RunChange::Kind::release;
    pulse.run = run.id;
    pulse.fence = run.fence;
    pulse.length = Duration::of_ms(lease_ms);
    pulse.actor = worker;
    const auto changed =
        world.ask<RunChanged>("heartbeat", [pulse](EngineCore& core) { return core.store().change_run(pulse); });
    if (pulse.kind == RunChange::Kind::release) return std::nullopt;
    if (changed && *changed && (**changed).kind != RunChanged::Kind::done) return std::nullopt;
  }
  RunReport report;
  report.run = run.id;
  report.fence = run.fence;
  report.worker = worker;
  if (world.strikes(Fault::worker_fails)) {
    report.failure = failure_of(dice);
    report.retry = dice.chance(85);
    if (!report.retry) world.recorder().will_not_retry(run.id);
  } else {
    report.result = world.ledger().perform(run, random_payload(dice, 0), world.chronicle());
    if (world.strikes(Fault::worker_dies)) return std::nullopt;
    if (world.strikes(Fault::worker_hangs)) world.scheduler().sleep(lease_ms + dice.below(120'000));
  }
  return report;
}

bool is_heard(const std::optional<Result<RunAnswer>>& answer) {
  return answer && (*answer || !is_transient(answer->error()));
}

// Those that were not heard are sent again.
void send(World& world, std::vector<RunReport> reports) {
  for (int attempt = 0; attempt < 5 && !reports.empty(); ++attempt) {
    using Answers = std::vector<Result<RunAnswer>>;
    const auto answers = world.ask<Answers>("report", [reports](EngineCore& core) -> Result<Answers> {
      if (reports.size() == 1) return Answers{core.reports().report(reports.front())};
      std::vector<RunReport> given = reports;  // it keeps what it is given
      return core.reports().report_all(given);
    });
    std::vector<RunReport> again;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (!answers || !is_heard((**answers)[i])) again.push_back(reports[i]);
    }
    reports = std::move(again);
    if (!reports.empty()) world.scheduler().sleep(200 << attempt);
  }
}

void send_once_or_twice(World& world, const std::vector<RunReport>& reports) {
  if (reports.empty()) return;
  const int times = world.strikes(Fault::report_again) ? 2 : 1;
  for (int i = 0; i < times; ++i) send(world, reports);
}

}  // namespace

void execute_run(World& world, const RunRow& run, const std::string& worker) {
  if (const auto report = work_on(world, run, worker)) send_once_or_twice(world, {*report});
}

void run_worker(World& world, int number) {
  int life = 0;
  for (;;) {
    LeaseRequest request;
    request.worker = "worker" + std::to_string(number) + "-" + std::to_string(++life);
    request.types = world.workflows().hints.worker_types;
    request.types.push_back("clerk.v1");
    request.prefixes = {""};
    request.max = static_cast<std::size_t>(1 + world.dice().below(4));
    request.length = Duration::of_ms(lease_ms);
    const auto leased = world.ask<std::vector<RunRow>>(
        "lease", [request](EngineCore& core) { return core.store().lease_runs(request); });
    if (leased && *leased) {
      const bool together = world.dice().chance(30);
      std::vector<RunReport> reports;
      for (const RunRow& run : **leased) {
        auto report = work_on(world, run, request.worker);
        if (!report) continue;
        reports.push_back(std::move(*report));
        if (!together) send_once_or_twice(world, std::exchange(reports, {}));
      }
      send_once_or_twice(world, reports);
      if (!(**leased).empty()) continue;
    }
    // Without an answer it asks again soon.
    world.rest_until_runs(leased && *leased ? 3'600'000 : 2'000 + world.dice().below(20'000));
  }
}

}  // namespace cairn::sim
