// A server of this program in its own process, for workloads through the HTTP API, and the cost of each process.
#pragma once

#include <string>
#include <string_view>

#include "workloads/child_process.h"
#include "workloads/workload.h"

namespace cairn::bench {

struct Served {
  Scratch scratch;
  ChildProcess process;
  std::string url;
  std::string host;
  int port = 0;

  // `cairn serve` with one definition on the plan's kind of store.
  static Result<Served> with(const Plan& plan, std::string_view definition);
};

// Measures the server and the worker (0: none) from now on.
class Shares {
 public:
  Shares(pid_t server, pid_t worker);
  // Adds them to the row of the client, which is this process.
  void add_to(Row& row) const;

 private:
  pid_t server_;
  pid_t worker_;
  ProcessCost server_before_;
  ProcessCost worker_before_;
};

// The error for an answer that the workload does not expect.
Error unexpected(int status, std::string_view text);

}  // namespace cairn::bench
