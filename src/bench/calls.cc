// W1 and W2: workflows whose steps are calls that a worker of this process answers. Each result is durable before the
// next call is made.
#include "bench/definitions.h"
#include "bench/rows.h"

namespace cairn::bench {

namespace {

Result<std::vector<Row>> run_calls(const Plan& plan, std::string_view workload, std::string_view definition,
                                   const std::string& name) {
  constexpr std::chrono::seconds patience(60);
  std::vector<Row> rows;
  for (const int outstanding : plan.outstanding) {
    plan.progress(std::string(workload) + ", " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&]() -> Result<Row> {
                CAIRN_TRY(Stage stage, Stage::open(plan, std::array{definition}));
                const Json answer = Json::object({{"ok", true}});
                stage.engine->handle("bench.work.v1", [&](const Work&) { return WorkDone(answer); });
                stage.engine->run();
                const Json input = order_input();
                return closed_loop(plan, outstanding, [&](int) -> Result<void> {
                  CAIRN_TRY(const InstanceState begun, stage.engine->start(order_for(name, input)));
                  CAIRN_TRY(const InstanceState ended, stage.engine->wait(begun.instance, patience));
                  return expect(ended.status, Status::completed);
                });
              }));
    row.workload = workload;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> run_w1(const Plan& plan) { return run_calls(plan, "W1", one_call, "one-call"); }
Result<std::vector<Row>> run_w2(const Plan& plan) { return run_calls(plan, "W2", five_calls, "five-calls"); }

}  // namespace cairn::bench
