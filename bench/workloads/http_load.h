// A closed loop over HTTP/1.1: one connection for each outstanding request, all on one thread, on plain sockets, so
// that the client takes as little as it can of the processor that it shares with the server.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "workloads/workload.h"

namespace cairn::bench {

struct HttpLoad {
  std::string host;
  int port = 0;
  // The next request of a connection: its method, target and body.
  struct Request {
    std::string_view method;
    std::string target;
    std::string body;
  };
  std::function<Request(int connection)> next;
  // What came back; true when that was the end of one workflow.
  std::function<Result<bool>(int connection, int status, std::string_view body)> answered;

  // The moment from which everything counts.
  std::function<void()> measuring = [] {};
  // So many workflows, all of which count, instead of the plan's time.
  std::size_t workflows = 0;

  Result<Row> run(const Plan& plan, int outstanding) const;
};

}  // namespace cairn::bench
