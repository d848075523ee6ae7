// W3 through the HTTP API: instances are started, then each gets its signal, 64 in flight. The answer to the signal
// says that the instance has completed.
#include "workloads/definitions.h"
#include "workloads/http_load.h"
#include "workloads/rows.h"
#include "workloads/served.h"

namespace cairn::bench {

namespace {

constexpr int in_flight = 64;

Result<Row> signal_all(const Plan& plan, std::size_t waiting) {
  CAIRN_TRY(const Served server, Served::with(plan, one_wait));
  const std::string start = write_json(Json::object({{"definition", "one-wait"}, {"input", order_input()}}));
  std::vector<std::string> instances;
  HttpLoad load;
  load.host = server.host;
  load.port = server.port;
  load.workflows = waiting;
  load.next = [&](int) { return HttpLoad::Request{"POST", "/v1/instances", start}; };
  load.answered = [&](int, int status, std::string_view text) -> Result<bool> {
    if (status / 100 != 2) return unexpected(status, text);
    CAIRN_TRY(const Json answer, parse_json(text));
    instances.emplace_back(answer.text_or("id", ""));
    return true;
  };
  CAIRN_TRY(const Row started, load.run(plan, in_flight));

  std::size_t next = 0;
  load.next = [&](int) {
    return HttpLoad::Request{"POST", "/v1/instances/" + instances[next++] + "/signals",
                             R"({"name":"go","payload":{"ok":true}})"};
  };
  load.answered = [&](int, int status, std::string_view text) -> Result<bool> {
    if (status / 100 == 2 && text.find("\"completed\"") != std::string_view::npos) return true;
    return unexpected(status, text);
  };
  std::optional<Shares> shares;
  load.measuring = [&] { shares.emplace(server.process.id(), 0); };
  CAIRN_TRY(Row row, load.run(plan, in_flight));
  shares->add_to(row);
  row.extra.set("started_per_second", started.rate);
  return row;
}

}  // namespace

Result<std::vector<Row>> run_http_w3(const Plan& plan) {
  const std::size_t waiting = plan.scaled(5000);
  plan.progress("http-W3, " + std::to_string(waiting) + " instances wait for a signal");
  CAIRN_TRY(Row row, median_of(plan, [&] { return signal_all(plan, waiting); }));
  row.workload = "http-W3";
  return std::vector{row};
}

}  // namespace cairn::bench
