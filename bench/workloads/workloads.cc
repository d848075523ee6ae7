#include "workloads/rows.h"

namespace cairn::bench {

std::span<const Workload> workloads() {
  static constexpr Workload all[] = {
      {"one-wait", "a workflow that waits once, started and completed", run_one_wait},
      {"five-checkpoints", "five steps, each committed before the next", run_five_checkpoints},
      {"W1", "start, one worker call, done", run_w1},
      {"W2", "five worker calls one after the other", run_w2},
      {"W3", "5 000 instances wait for a signal, 64 signals in flight", run_w3},
      {"W4", "10 000 timers due at one instant", run_w4},
      {"W5", "20 000 jobs: bulk enqueue and drain, one at a time, idle latency", run_w5},
      {"W6", "cost of 10 000, 100 000 and 1 000 000 waiting instances", run_w6},
      {"W7", "a task created, claimed and completed", run_w7},
      {"W8", "100 000 due instances after kill -9", run_w8},
      {"nodes", "one-wait on PostgreSQL with one and three nodes, and signal to resumed", run_nodes},
      {"http-one-wait", "one-wait through the HTTP API", run_http_one_wait},
      {"http-W1", "W1 through the HTTP API, with a worker process", run_http_w1},
      {"http-W2", "W2 through the HTTP API, with a worker process", run_http_w2},
      {"http-W3", "W3 through the HTTP API", run_http_w3},
      {"http-W7", "W7 through the HTTP API", run_http_w7},
      {"at-rest", "an idle server: start-up and memory", run_at_rest},
      {"outbox-backlog", "starts beside 200 000 events whose sinks hang or refuse", run_outbox_backlog, true},
      {"scale", "single operations in a store with --instances instances", run_scale, true},
      {"scale-instance", "one step of an instance while one property of it grows", run_scale_instance, true},
  };
  return all;
}

}  // namespace cairn::bench
