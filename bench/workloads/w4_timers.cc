// W4: timers of many instances are due at the same instant. Lateness is the time from that instant until the end of the
// instance is durable.
#include <condition_variable>
#include <mutex>

#include "base/clock.h"
#include "workloads/definitions.h"
#include "workloads/rows.h"

namespace cairn::bench {

namespace {

Result<Row> one_instant(const Plan& plan, std::size_t count) {
  // Before the stage, whose engine calls back until it has stopped.
  SystemClock clock;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Timestamp> ends;
  ends.reserve(count);
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_timer}));
  stage.engine->on_ended([&](const InstanceId&) {
    const std::lock_guard lock(mutex);
    ends.push_back(clock.now());
    if (ends.size() == count) changed.notify_one();
  });
  stage.engine->run();

  // Far enough ahead that every timer is written before it is due; checked below.
  const Duration lead = Duration::of_ms(1500 + static_cast<std::int64_t>(count) * 2 / 5);
  const Timestamp due = add(clock.now(), lead).value_or(clock.now());
  Json input = order_input();
  input.set("at", format_timestamp(due));
  CAIRN_TRY(const Row load, each_once(count, 64, [&](std::size_t) -> Result<void> {
              CAIRN_TRY_VOID(stage.engine->start(request_for("one-timer", input)));
              return {};
            }));
  if (!(clock.now() < due)) return Error{ErrorCode::internal, "the timers could not be written before they fell due"};
  const Meter meter;
  {
    std::unique_lock lock(mutex);
    const bool all = changed.wait_for(lock, std::chrono::seconds(120), [&] { return ends.size() == count; });
    if (!all) return Error{ErrorCode::internal, "not every timer has fired"};
  }
  Latencies lateness;
  for (const Timestamp end : ends) lateness.add(static_cast<double>(end.unix_ms() - due.unix_ms()));
  lateness.sort();
  Row row;
  row.count = count;
  row.cost = meter.read();
  row.p50_ms = lateness.at(0.5);
  row.p99_ms = lateness.at(0.99);
  row.max_ms = lateness.max();
  row.rate = static_cast<double>(count) / std::max(0.001, row.max_ms / 1000);
  row.extra = Json::object({{"scheduled_per_second", load.rate}});
  return row;
}

}  // namespace

Result<std::vector<Row>> run_w4(const Plan& plan) {
  const std::size_t count = plan.scaled(10'000);
  plan.progress("W4, " + std::to_string(count) + " timers due at one instant");
  CAIRN_TRY(Row row, median_of(plan, [&] { return one_instant(plan, count); }));
  row.workload = "W4";
  return std::vector{row};
}

}  // namespace cairn::bench
