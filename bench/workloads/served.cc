#include "workloads/served.h"

#include <cstdlib>

#include "definition/definition.h"
#include "workloads/database_cost.h"
#include "workloads/disk_counts.h"
#include "workloads/http_load.h"

namespace cairn::bench {

namespace {

Result<void> deploy(const Served& server, const Plan& plan, std::string_view definition) {
  HttpLoad once;
  once.host = server.host;
  once.port = server.port;
  once.workflows = 1;
  once.next = [&](int) {
    return HttpLoad::Request{"POST", "/v1/definitions", write_json(load_definition(definition, "flow").canonical)};
  };
  once.answered = [](int, int status, std::string_view text) -> Result<bool> {
    if (status != 201) return unexpected(status, text);
    return true;
  };
  CAIRN_TRY_VOID(once.run(plan, 1));
  return {};
}

}  // namespace

Result<Served> Served::with(const Plan& plan, std::string_view definition) {
  CAIRN_TRY(Scratch scratch, Scratch::make(plan.folder));
  const std::string store = plan.store == "sqlite"   ? "sqlite:" + scratch.path() + "/store.db"
                            : plan.store == "memory" ? "memory:"
                                                     : plan.store;
  count_disk();
  if (store.starts_with("postgres")) count_database(store);
  CAIRN_TRY(ChildProcess process, ChildProcess::start({"serve", "--listen", "127.0.0.1:0", "--log-level", "error",
                                                       "--auth", "none", "--store", store}));
  const std::size_t colon = process.first_line().rfind(':');
  if (colon == std::string::npos) return Error{ErrorCode::internal, "cairn serve said: " + process.first_line()};
  const int port = std::atoi(process.first_line().c_str() + colon + 1);
  Served server{std::move(scratch), std::move(process), "http://127.0.0.1:" + std::to_string(port), "127.0.0.1", port};
  CAIRN_TRY_VOID(deploy(server, plan, definition));
  return server;
}

Shares::Shares(pid_t server, pid_t worker)
    : server_(server), worker_(worker), server_before_(process_cost(server)), worker_before_(process_cost(worker)) {}

void Shares::add_to(Row& row) const {
  const ProcessCost server = process_cost(server_);
  const double of_server = server.cpu_s - server_before_.cpu_s;
  const double of_worker = worker_ > 0 ? process_cost(worker_).cpu_s - worker_before_.cpu_s : 0;
  double of_database = 0;
  for (const auto& [part, cpu_s] : row.cost.cpu_parts) {
    if (part == "database") of_database = cpu_s;
  }
  const double of_client = row.cost.cpu_s - of_database;
  row.cost.cpu_parts = {{"server", of_server}};
  if (of_database > 0) row.cost.cpu_parts.emplace_back("database", of_database);
  if (worker_ > 0) row.cost.cpu_parts.emplace_back("worker", of_worker);
  row.cost.cpu_parts.emplace_back("client", of_client);
  row.cost.cpu_s += of_server + of_worker;
  row.extra.set("server_memory_bytes", static_cast<std::int64_t>(server.memory_peak_bytes));
}

Error unexpected(int status, std::string_view text) {
  return Error{ErrorCode::internal, std::to_string(status) + " " + std::string(text.substr(0, 300))};
}

}  // namespace cairn::bench
