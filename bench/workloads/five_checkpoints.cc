// Five steps, each committed before the next begins.
#include "workloads/definitions.h"
#include "workloads/rows.h"

namespace cairn::bench {

Result<std::vector<Row>> run_five_checkpoints(const Plan& plan) {
  std::vector<Row> rows;
  for (const int outstanding : plan.outstanding) {
    plan.progress("five-checkpoints, " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&]() -> Result<Row> {
                CAIRN_TRY(Stage stage, Stage::open(plan, std::array{five_checkpoints}));
                stage.engine->run();
                const Json input = order_input();
                return closed_loop(plan, outstanding, [&](int) -> Result<void> {
                  CAIRN_TRY(const InstanceAnswer ended, stage.engine->start(request_for("five-checkpoints", input)));
                  return expect(ended.status, Status::completed);
                });
              }));
    row.workload = "five-checkpoints";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace cairn::bench
