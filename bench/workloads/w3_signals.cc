// W3: many instances wait for a signal; then each gets it, 64 in flight.
#include "workloads/definitions.h"
#include "workloads/rows.h"

namespace cairn::bench {

Result<std::vector<Row>> run_w3(const Plan& plan) {
  constexpr int in_flight = 64;
  const std::size_t waiting = plan.scaled(5000);
  plan.progress("W3, " + std::to_string(waiting) + " instances wait for a signal");
  CAIRN_TRY(Row row, median_of(plan, [&]() -> Result<Row> {
              CAIRN_TRY(Stage stage, Stage::open(plan, std::array{one_wait}));
              stage.engine->run();
              const Json input = order_input();
              std::vector<InstanceId> instances(waiting);
              CAIRN_TRY_VOID(each_once(waiting, in_flight, [&](std::size_t at) -> Result<void> {
                CAIRN_TRY(const InstanceAnswer begun, stage.engine->start(request_for("one-wait", input)));
                instances[at] = begun.instance;
                return {};
              }));
              const Json answer = Json::object({{"ok", true}});
              return each_once(waiting, in_flight, [&](std::size_t at) -> Result<void> {
                CAIRN_TRY(const InstanceAnswer ended, stage.engine->signal(instances[at], "go", answer));
                return expect(ended.status, Status::completed);
              });
            }));
  row.workload = "W3";
  return std::vector{row};
}

}  // namespace cairn::bench
