// W6: what instances cost that only wait, on a timer far ahead: processor, memory, disk.
#include <unistd.h>

#include <thread>

#include "bench/definitions.h"
#include "bench/rows.h"

namespace cairn::bench {

namespace {

// A process of its own would be fairer to the memory, and is what is measured: the engine is opened anew on the store,
// so that nothing of the load stays in its caches.
Result<Row> waiting(const Plan& plan, std::size_t count) {
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_timer}));
  Json input = order_input();
  input.set("at", "2126-01-01T00:00:00Z");
  stage.engine->run();
  CAIRN_TRY(Row row, each_once(count, 128, [&](std::size_t) -> Result<void> {
              CAIRN_TRY_VOID(stage.engine->start(order_for("one-timer", input)));
              return {};
            }));
  if (stage.scratch) {
    stage.engine.reset();
    row.extra.set("disk_bytes_per_instance", static_cast<double>(stage.scratch->bytes()) / static_cast<double>(count));
    CAIRN_TRY(stage.engine, open_engine(stage.url()));
    stage.engine->run();
  }
  const double window_s = std::max(1.0, 2 * plan.seconds);
  const Meter meter;
  std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<long>(window_s * 1000)));
  const Cost idle = meter.read();
  row.extra.set("idle_cpu_percent", 100 * idle.cpu_s / idle.wall_s);
  row.extra.set("idle_memory_bytes", static_cast<std::int64_t>(process_cost(::getpid()).memory_bytes));
  row.extra.set("idle_window_s", idle.wall_s);
  row.outstanding = 0;
  return row;
}

}  // namespace

Result<std::vector<Row>> run_w6(const Plan& plan) {
  std::vector<Row> rows;
  for (const std::size_t count : {plan.scaled(10'000), plan.scaled(100'000), plan.scaled(1'000'000)}) {
    plan.progress("W6, " + std::to_string(count) + " instances wait");
    CAIRN_TRY(Row row, waiting(plan, count));
    row.workload = "W6";
    row.variant = std::to_string(count) + " waiting";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace cairn::bench
