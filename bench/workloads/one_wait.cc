// The kernel's own workload: a workflow that waits once, started and completed. On SQLite and PostgreSQL the ceiling is
// measured in alternation, so that other load on the machine affects both. On PostgreSQL half of the ceiling is
// measured before and half after, because the speed of machine and disk varies within seconds. Both use schemas of the
// same age, because rows written into space that vacuum freed cost twice the log of rows on new pages.
#include <algorithm>

#include "workloads/ceiling.h"
#include "workloads/definitions.h"
#include "workloads/postgres_ceiling.h"
#include "workloads/rows.h"
#include "workloads/scratch_schema.h"

namespace cairn::bench {

namespace {

Result<Row> with_threads(const Plan& plan, int outstanding) {
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_wait}));
  stage.engine->run();
  const Json input = order_input();
  const Json answer = Json::object({{"ok", true}});
  return closed_loop(plan, outstanding, [&](int) -> Result<void> {
    CAIRN_TRY(const InstanceAnswer begun, stage.engine->start(request_for("one-wait", input)));
    CAIRN_TRY(const InstanceAnswer ended, stage.engine->signal(begun.instance, "go", answer));
    return expect(ended.status, Status::completed);
  });
}

Result<Row> with_callbacks(const Plan& plan, int outstanding) {
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_wait}));
  stage.engine->run();
  Engine& engine = *stage.engine;
  const Json input = order_input();
  const Json answer = Json::object({{"ok", true}});
  return callback_loop(plan, outstanding, [&](int, const OpDone& done) {
    engine.start(request_for("one-wait", input), [&engine, &answer, done](Result<InstanceAnswer> begun) {
      if (!begun) return done(begun.error());
      engine.signal(begun->instance, "go", answer, [done](Result<InstanceAnswer> ended) {
        done(ended ? expect(ended->status, Status::completed) : Result<void>(ended.error()));
      });
    });
  });
}

// Combines two measurements of the same workload.
Row together(const Row& one, const Row& other) {
  Row row = one;
  row.count += other.count;
  row.cost.add(other.cost);
  const double first = one.cost.wall_s / row.cost.wall_s;
  const auto mean = [&](double of_one, double of_other) { return of_one * first + of_other * (1 - first); };
  row.rate = mean(one.rate, other.rate);
  row.p50_ms = mean(one.p50_ms, other.p50_ms);
  row.p99_ms = std::max(one.p99_ms, other.p99_ms);
  row.max_ms = std::max(one.max_ms, other.max_ms);
  return row;
}

}  // namespace

Result<std::vector<Row>> run_one_wait(const Plan& given) {
  Plan plan = given;
  std::optional<ScratchSchema> scratch;
  std::function<Result<Row>(const Plan&, int)> ceiling;
  if (plan.store == "sqlite") {
    CAIRN_TRY(Ceiling taken, Ceiling::of_one_wait(plan));
    ceiling = [bare = std::make_shared<Ceiling>(std::move(taken))](const auto& own, int slices) {
      return bare->run(own, slices);
    };
  } else if (plan.store.starts_with("postgres")) {
    CAIRN_TRY(PostgresCeiling taken, PostgresCeiling::of_one_wait(plan));
    CAIRN_TRY(ScratchSchema made, ScratchSchema::make(plan.store, "_one_wait"));
    plan.store = scratch.emplace(std::move(made)).url();
    ceiling = [bare = std::make_shared<PostgresCeiling>(std::move(taken))](const auto& own, int slices) {
      return bare->run(own, slices);
    };
  }
  Plan half = plan;
  half.seconds /= 2;
  std::vector<Row> rows;
  for (const int outstanding : plan.outstanding) {
    plan.progress("one-wait, " + std::to_string(outstanding) + " outstanding");
    std::vector<Row> threads, callbacks, bare;
    std::vector<double> threads_share, callbacks_share;
    for (int i = 0; i < plan.repeats; ++i) {
      CAIRN_TRY(Row first, with_threads(plan, outstanding));
      std::optional<Row> before;
      if (scratch) {
        CAIRN_TRY(before, ceiling(half, outstanding));
      }
      CAIRN_TRY(Row second, with_callbacks(plan, outstanding));
      if (ceiling) {
        CAIRN_TRY(Row beside, ceiling(before ? half : plan, outstanding));
        if (before) beside = together(*before, beside);
        threads_share.push_back(first.rate / beside.rate);
        callbacks_share.push_back(second.rate / beside.rate);
        bare.push_back(std::move(beside));
      }
      threads.push_back(std::move(first));
      callbacks.push_back(std::move(second));
    }
    const auto add = [&rows](std::vector<Row> all, const char* variant, std::vector<double> shares) {
      Row row = median_row(std::move(all));
      row.workload = "one-wait";
      row.variant = variant;
      std::sort(shares.begin(), shares.end());
      if (!shares.empty()) {
        row.extra.set("share_of_ceiling", shares[shares.size() / 2]);
        row.extra.set("shares_of_ceiling", Json::array(Json::Array(shares.begin(), shares.end())));
      }
      rows.push_back(std::move(row));
    };
    add(std::move(threads), "a thread for each", std::move(threads_share));
    add(std::move(callbacks), "callbacks", std::move(callbacks_share));
    if (!ceiling) continue;
    Row beside = median_row(std::move(bare));
    beside.workload = "ceiling";
    beside.variant =
        plan.store == "sqlite" ? "the rows of one-wait with bare SQLite" : "the rows of one-wait with bare libpq";
    rows.push_back(std::move(beside));
  }
  return rows;
}

}  // namespace cairn::bench
