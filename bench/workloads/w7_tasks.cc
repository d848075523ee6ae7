// W7: human work: a task is created, claimed and completed.
#include "engine/core.h"
#include "workloads/definitions.h"
#include "workloads/rows.h"

namespace cairn::bench {

Result<std::vector<Row>> run_w7(const Plan& plan) {
  std::vector<Row> rows;
  for (const int outstanding : plan.outstanding) {
    plan.progress("W7, " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&]() -> Result<Row> {
                CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_task}));
                stage.engine->run();
                const Json input = order_input();
                const Json answer = Json::object({{"approved", true}});
                return closed_loop(plan, outstanding, [&](int) -> Result<void> {
                  CAIRN_TRY(const InstanceAnswer begun, stage.engine->start(request_for("one-task", input)));
                  CAIRN_TRY(const auto tasks, stage.engine->tasks(begun.instance));
                  if (tasks.size() != 1) return Error{ErrorCode::internal, "the task is not there"};
                  TaskChange claim;
                  claim.task = tasks.front().id;
                  claim.assignee = "grace";
                  CAIRN_TRY_VOID(stage.engine->core().tasks().change(claim, {"grace", {{"clerk"}}}));
                  CAIRN_TRY(const InstanceAnswer ended,
                            stage.engine->complete(tasks.front().id, answer, {"grace", {{"clerk"}}}));
                  return expect(ended.status, Status::completed);
                });
              }));
    row.workload = "W7";
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace cairn::bench
