// The kernel's own rows: a workflow that waits once, started and completed.
#include "bench/definitions.h"
#include "bench/rows.h"

namespace cairn::bench {

Result<std::vector<Row>> run_one_wait(const Plan& plan) {
  std::vector<Row> rows;
  for (const int outstanding : plan.outstanding) {
    plan.progress("one-wait, " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&]() -> Result<Row> {
                CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_wait}));
                stage.engine->run();
                const Json input = order_input();
                const Json answer = Json::object({{"ok", true}});
                return closed_loop(plan, outstanding, [&](int) -> Result<void> {
                  CAIRN_TRY(const InstanceState begun, stage.engine->start(order_for("one-wait", input)));
                  CAIRN_TRY(const InstanceState ended, stage.engine->signal(begun.instance, "go", answer));
                  return expect(ended.status, Status::completed);
                });
              }));
    row.workload = "one-wait";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace cairn::bench
