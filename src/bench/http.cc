// The workloads through the HTTP API: the server, the worker and the client are processes of their own.
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "bench/child_process.h"
#include "bench/definitions.h"
#include "bench/http_load.h"
#include "bench/idle.h"
#include "bench/rows.h"
#include "cairn/worker.h"

namespace cairn::bench {

namespace {

struct Server {
  Scratch scratch;
  ChildProcess process;
  std::string url;
  std::string host;
  int port = 0;
};

Result<Server> serve(const Plan& plan, std::string_view definition) {
  CAIRN_TRY(Scratch scratch, Scratch::make(plan.folder));
  const std::string flow = scratch.path() + "/flow.yaml";
  std::ofstream(flow) << definition;
  const std::string store = plan.store == "sqlite"   ? "sqlite:" + scratch.path() + "/store.db"
                            : plan.store == "memory" ? "memory:"
                                                     : plan.store;
  CAIRN_TRY(ChildProcess process, ChildProcess::start({"dev", flow, "--listen", "0", "--store", store}));
  const std::string line = process.first_line();
  const std::size_t at = line.find("http://");
  const std::size_t colon = at == std::string::npos ? at : line.find(':', at + 7);
  if (colon == std::string::npos) return Error{ErrorCode::internal, "cairn dev said: " + line};
  const int port = std::atoi(line.c_str() + colon + 1);
  const std::string host =
      line.substr(at + 7, colon - at - 7) == "localhost" ? "127.0.0.1" : line.substr(at + 7, colon - at - 7);
  return Server{std::move(scratch), std::move(process), "http://" + host + ":" + std::to_string(port), host, port};
}

// What each process took, beside the rate.
struct Shares {
  pid_t server;
  pid_t worker;
  ProcessCost server_before;
  ProcessCost worker_before;

  Shares(pid_t of_server, pid_t of_worker)
      : server(of_server),
        worker(of_worker),
        server_before(process_cost(server)),
        worker_before(process_cost(worker)) {}

  void add_to(Row& row) const {
    const double thousands = static_cast<double>(std::max<std::uint64_t>(1, row.count)) / 1000;
    const ProcessCost server_after = process_cost(server);
    const double of_server = server_after.cpu_s - server_before.cpu_s;
    const double of_worker = worker > 0 ? process_cost(worker).cpu_s - worker_before.cpu_s : 0;
    row.extra.set("server_cpu_s", of_server / thousands);
    if (worker > 0) row.extra.set("worker_cpu_s", of_worker / thousands);
    row.extra.set("client_cpu_s", row.cost.cpu_s / thousands);
    row.extra.set("server_memory_bytes", static_cast<std::int64_t>(server_after.memory_peak_bytes));
    row.cost.cpu_s += of_server + of_worker;
    row.cost.written_bytes = server_after.written_bytes - server_before.written_bytes;
  }
};

Result<std::vector<Row>> run_calls(const Plan& plan, const char* workload, std::string_view definition,
                                   const char* name) {
  std::vector<Row> rows;
  const std::string body = write_json(Json::object({{"definition", name}, {"input", order_input()}}));
  for (const int outstanding : plan.outstanding) {
    plan.progress(std::string(workload) + ", " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&]() -> Result<Row> {
                CAIRN_TRY(const Server server, serve(plan, definition));
                CAIRN_TRY(const ChildProcess worker, ChildProcess::start({"bench", "--work", server.url}));
                HttpLoad load{server.host, server.port, {}, {}};
                load.next = [&](int) { return HttpLoad::Request{"POST", "/v1/instances?wait=30s", body}; };
                load.answered = [&](int, int status, std::string_view text) -> Result<bool> {
                  if (status / 100 == 2 && text.find("\"completed\"") != std::string_view::npos) return true;
                  return Error{ErrorCode::internal, std::to_string(status) + " " + std::string(text.substr(0, 300))};
                };
                const Shares shares(server.process.id(), worker.id());
                CAIRN_TRY(Row one, load.run(plan, outstanding));
                shares.add_to(one);
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
                CAIRN_TRY(const Server server, serve(plan, one_wait));
                std::vector<std::string> waiting(static_cast<std::size_t>(outstanding));
                HttpLoad load{server.host, server.port, {}, {}};
                load.next = [&](int i) {
                  const std::string& id = waiting[static_cast<std::size_t>(i)];
                  if (id.empty()) return HttpLoad::Request{"POST", "/v1/instances", body};
                  return HttpLoad::Request{"POST", "/v1/instances/" + id + "/signals",
                                           R"({"name":"go","payload":{"ok":true}})"};
                };
                load.answered = [&](int i, int status, std::string_view text) -> Result<bool> {
                  if (status / 100 != 2) {
                    return Error{ErrorCode::internal, std::to_string(status) + " " + std::string(text.substr(0, 300))};
                  }
                  std::string& id = waiting[static_cast<std::size_t>(i)];
                  if (!id.empty()) {
                    id.clear();
                    return true;
                  }
                  CAIRN_TRY(const Json answer, parse_json(text));
                  id = std::string(answer.text_or("id", ""));
                  if (id.empty()) return Error{ErrorCode::internal, "no id in " + std::string(text.substr(0, 300))};
                  return false;
                };
                const Shares shares(server.process.id(), 0);
                CAIRN_TRY(Row one, load.run(plan, outstanding));
                shares.add_to(one);
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
