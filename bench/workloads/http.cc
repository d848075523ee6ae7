// The workloads through the HTTP API: server, worker and client are separate processes.
#include <unistd.h>

#include <iostream>

#include "cairn/worker.h"
#include "workloads/definitions.h"
#include "workloads/http_load.h"
#include "workloads/idle.h"
#include "workloads/rows.h"
#include "workloads/served.h"

namespace cairn::bench {

namespace {

Result<std::vector<Row>> run_calls(const Plan& plan, const char* workload, std::string_view definition,
                                   const char* name) {
  std::vector<Row> rows;
  const std::string body = write_json(Json::object({{"definition", name}, {"input", Json::object()}}));
  for (const int outstanding : plan.outstanding) {
    plan.progress(std::string(workload) + ", " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&]() -> Result<Row> {
                CAIRN_TRY(const Served server, Served::with(plan, definition));
                CAIRN_TRY(const ChildProcess worker, ChildProcess::start({"--work", server.url}));
                HttpLoad load;
                load.host = server.host;
                load.port = server.port;
                load.next = [&](int) { return HttpLoad::Request{"POST", "/v1/instances?wait=30s", body}; };
                load.answered = [&](int, int status, std::string_view text) -> Result<bool> {
                  if (status / 100 == 2 && text.find("\"completed\"") != std::string_view::npos) return true;
                  return unexpected(status, text);
                };
                std::optional<Shares> shares;
                load.measuring = [&] { shares.emplace(server.process.id(), worker.id()); };
                CAIRN_TRY(Row one, load.run(plan, outstanding));
                shares->add_to(one);
                return one;
              }));
    row.workload = workload;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> run_http_w1(const Plan& plan) { return run_calls(plan, "http-W1", one_call, "one-call"); }
Result<std::vector<Row>> run_http_w2(const Plan& plan) { return run_calls(plan, "http-W2", five_calls, "five-calls"); }

Result<std::vector<Row>> run_http_one_wait(const Plan& plan) {
  std::vector<Row> rows;
  const std::string body = write_json(Json::object({{"definition", "one-wait"}, {"input", order_input()}}));
  for (const int outstanding : plan.outstanding) {
    plan.progress("http-one-wait, " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&]() -> Result<Row> {
                CAIRN_TRY(const Served server, Served::with(plan, one_wait));
                std::vector<std::string> waiting(static_cast<std::size_t>(outstanding));
                HttpLoad load;
                load.host = server.host;
                load.port = server.port;
                load.next = [&](int i) {
                  const std::string& id = waiting[static_cast<std::size_t>(i)];
                  if (id.empty()) return HttpLoad::Request{"POST", "/v1/instances", body};
                  return HttpLoad::Request{"POST", "/v1/instances/" + id + "/signals",
                                           R"({"name":"go","payload":{"ok":true}})"};
                };
                load.answered = [&](int i, int status, std::string_view text) -> Result<bool> {
                  if (status / 100 != 2) return unexpected(status, text);
                  std::string& id = waiting[static_cast<std::size_t>(i)];
                  if (!id.empty()) {
                    id.clear();
                    return true;
                  }
                  CAIRN_TRY(const Json answer, parse_json(text));
                  id = std::string(answer.text_or("id", ""));
                  if (id.empty()) return unexpected(status, text);
                  return false;
                };
                std::optional<Shares> shares;
                load.measuring = [&] { shares.emplace(server.process.id(), 0); };
                CAIRN_TRY(Row one, load.run(plan, outstanding));
                shares->add_to(one);
                return one;
              }));
    row.workload = "http-one-wait";
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<void> work_for(const std::string& server) {
  WorkerOptions options;
  options.server = server;
  options.threads = 2;
  CAIRN_TRY(const auto worker, Worker::open(options));
  const Json answer = Json::object({{"ok", true}});
  worker->handle("bench.work.v1", [&](const Work&) { return WorkDone(answer); });
  worker->start();
  std::cout << "ready" << std::endl;
  for (;;) ::pause();
}

}  // namespace cairn::bench
