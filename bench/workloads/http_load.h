// A closed loop over HTTP/1.1: one connection per outstanding request, all on one thread and on plain sockets. So the
// client uses as little as possible of the CPU that it shares with the server.
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
  // Handles an answer; returns true if it ended a workflow.
  std::function<Result<bool>(int connection, int status, std::string_view body)> answered;

  // Called when the measurement starts.
  std::function<void()> measuring = [] {};
  // Runs exactly this many workflows, all measured, instead of the plan's time.
  std::size_t workflows = 0;

  Result<Row> run(const Plan& plan, int outstanding) const;
};

}  // namespace cairn::bench
