// An idle server: the time from the start of its process until it is ready, and its memory some time later.
#include <thread>

#include "workloads/http_load.h"
#include "workloads/rows.h"
#include "workloads/served.h"

namespace cairn::bench {

namespace {

Result<Row> start_once(const Plan& plan) {
  CAIRN_TRY(Scratch scratch, Scratch::make(plan.folder));
  const std::string store = plan.store == "sqlite"   ? "sqlite:" + scratch.path() + "/store.db"
                            : plan.store == "memory" ? "memory:"
                                                     : plan.store;
  const auto began = std::chrono::steady_clock::now();
  CAIRN_TRY(const ChildProcess server, ChildProcess::start({"serve", "--listen", "127.0.0.1:0", "--log-level", "error",
                                                            "--auth", "none", "--store", store}));
  const std::size_t colon = server.first_line().rfind(':');
  if (colon == std::string::npos) return Error{ErrorCode::internal, "cairn serve said: " + server.first_line()};
  HttpLoad ask;
  ask.host = "127.0.0.1";
  ask.port = std::atoi(server.first_line().c_str() + colon + 1);
  ask.workflows = 1;
  ask.next = [](int) { return HttpLoad::Request{"GET", "/readyz", ""}; };
  ask.answered = [](int, int status, std::string_view) -> Result<bool> { return status == 200; };
  CAIRN_TRY_VOID(ask.run(plan, 1));
  Row row;
  row.p50_ms = row.p99_ms = row.max_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<long>(1000 * plan.seconds)));
  const ProcessCost before = process_cost(server.id());
  std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<long>(1000 * plan.seconds)));
  const ProcessCost after = process_cost(server.id());
  row.count = 1;
  row.cost.wall_s = plan.seconds;
  row.cost.memory_peak_bytes = after.memory_peak_bytes;
  row.extra.set("rest_memory_bytes", static_cast<std::int64_t>(after.memory_bytes));
  row.extra.set("rest_cpu_percent", 100 * (after.cpu_s - before.cpu_s) / plan.seconds);
  return row;
}

}  // namespace

Result<std::vector<Row>> run_at_rest(const Plan& plan) {
  plan.progress("a server at rest");
  std::vector<Row> all;
  for (int i = 0; i < plan.repeats; ++i) {
    CAIRN_TRY(Row row, start_once(plan));
    all.push_back(std::move(row));
  }
  std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) { return a.p50_ms < b.p50_ms; });
  Row row = all[all.size() / 2];
  row.workload = "at-rest";
  row.variant = "from the start of the process until it is ready; then idle";
  row.p99_ms = row.max_ms = all.back().max_ms;
  return std::vector{row};
}

}  // namespace cairn::bench
