// The kernel's own rows: a workflow that waits once, started and completed. On SQLite the ceiling is measured in turn
// with it, so that whatever else the machine does disturbs both.
#include <algorithm>

#include "bench/ceiling.h"
#include "bench/definitions.h"
#include "bench/rows.h"

namespace cairn::bench {

namespace {

Result<Row> one_level(const Plan& plan, int outstanding) {
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_wait}));
  stage.engine->run();
  const Json input = order_input();
  const Json answer = Json::object({{"ok", true}});
  return closed_loop(plan, outstanding, [&](int) -> Result<void> {
    CAIRN_TRY(const InstanceState begun, stage.engine->start(order_for("one-wait", input)));
    CAIRN_TRY(const InstanceState ended, stage.engine->signal(begun.instance, "go", answer));
    return expect(ended.status, Status::completed);
  });
}

}  // namespace

Result<std::vector<Row>> run_one_wait(const Plan& plan) {
  std::optional<Ceiling> ceiling;
  if (plan.store == "sqlite") {
    CAIRN_TRY(Ceiling taken, Ceiling::of_one_wait(plan));
    ceiling.emplace(std::move(taken));
  }
  std::vector<Row> rows;
  for (const int outstanding : plan.outstanding) {
    plan.progress("one-wait, " + std::to_string(outstanding) + " outstanding");
    std::vector<Row> ours, bare;
    std::vector<double> shares;
    for (int i = 0; i < plan.repeats; ++i) {
      CAIRN_TRY(Row row, one_level(plan, outstanding));
      ours.push_back(std::move(row));
      if (!ceiling) continue;
      CAIRN_TRY(Row beside, ceiling->run(plan, outstanding));
      shares.push_back(ours.back().rate / beside.rate);
      bare.push_back(std::move(beside));
    }
    Row row = median_row(std::move(ours));
    row.workload = "one-wait";
    if (ceiling) {
      std::sort(shares.begin(), shares.end());
      row.extra.set("share_of_ceiling", shares[shares.size() / 2]);
    }
    rows.push_back(std::move(row));
    if (!ceiling) continue;
    Row beside = median_row(std::move(bare));
    beside.workload = "ceiling";
    beside.variant = "the rows of one-wait with bare SQLite";
    rows.push_back(std::move(beside));
  }
  return rows;
}

}  // namespace cairn::bench
