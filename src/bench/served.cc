#include "bench/served.h"

#include <cstdlib>
#include <fstream>

#include "bench/database_cost.h"

namespace cairn::bench {

Result<Served> Served::with(const Plan& plan, std::string_view definition) {
  CAIRN_TRY(Scratch scratch, Scratch::make(plan.folder));
  const std::string flow = scratch.path() + "/flow.yaml";
  std::ofstream(flow) << definition;
  const std::string store = plan.store == "sqlite"   ? "sqlite:" + scratch.path() + "/store.db"
                            : plan.store == "memory" ? "memory:"
                                                     : plan.store;
  if (store.starts_with("postgres")) count_database(store);
  CAIRN_TRY(ChildProcess process, ChildProcess::start({"dev", flow, "--listen", "0", "--store", store}));
  const std::string line = process.first_line();
  const std::size_t at = line.find("http://");
  const std::size_t colon = at == std::string::npos ? at : line.find(':', at + 7);
  if (colon == std::string::npos) return Error{ErrorCode::internal, "cairn dev said: " + line};
  const int port = std::atoi(line.c_str() + colon + 1);
  const std::string host =
      line.substr(at + 7, colon - at - 7) == "localhost" ? "127.0.0.1" : line.substr(at + 7, colon - at - 7);
  return Served{std::move(scratch), std::move(process), "http://" + host + ":" + std::to_string(port), host, port};
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
  row.cost.written_bytes += server.written_bytes - server_before_.written_bytes;
  row.extra.set("server_memory_bytes", static_cast<std::int64_t>(server.memory_peak_bytes));
}

Error unexpected(int status, std::string_view text) {
  return Error{ErrorCode::internal, std::to_string(status) + " " + std::string(text.substr(0, 300))};
}

}  // namespace cairn::bench
