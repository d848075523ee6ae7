// W6: the cost of instances that only wait for a timer far ahead: CPU, memory, disk. The measured engine is a separate
// process (`--idle`), so that its memory contains nothing of the load.
#include <unistd.h>

#include <iostream>
#include <thread>

#include "workloads/child_process.h"
#include "workloads/definitions.h"
#include "workloads/idle.h"
#include "workloads/rows.h"

namespace cairn::bench {

namespace {

Result<Row> waiting(const Plan& plan, std::size_t count) {
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_timer}));
  Json input = order_input();
  input.set("at", "2126-01-01T00:00:00Z");
  stage.engine->run();
  CAIRN_TRY(Row row, each_once(count, 128, [&](std::size_t) -> Result<void> {
              CAIRN_TRY_VOID(stage.engine->start(request_for("one-timer", input)));
              return {};
            }));
  row.outstanding = 0;
  pid_t looked_at = ::getpid();
  std::optional<ChildProcess> idle;
  if (stage.scratch) {
    stage.engine.reset();
    row.extra.set("disk_bytes_per_instance", static_cast<double>(stage.scratch->bytes()) / static_cast<double>(count));
    CAIRN_TRY(ChildProcess process, ChildProcess::start({"--idle", stage.url}));
    idle.emplace(std::move(process));
    looked_at = idle->id();
  }
  const std::chrono::milliseconds window(static_cast<long>(std::max(1000.0, 2000 * plan.seconds)));
  const double before_s = process_cost(looked_at).cpu_s;
  std::this_thread::sleep_for(window);
  const ProcessCost after = process_cost(looked_at);
  row.extra.set("idle_cpu_percent", 100 * (after.cpu_s - before_s) / std::chrono::duration<double>(window).count());
  row.extra.set("idle_memory_bytes", static_cast<std::int64_t>(after.memory_bytes));
  return row;
}

}  // namespace

Result<void> stay_idle(const std::string& url) {
  CAIRN_TRY(const auto engine, open_engine(url));
  engine->run();
  std::cout << "ready" << std::endl;
  for (;;) ::pause();
}

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
