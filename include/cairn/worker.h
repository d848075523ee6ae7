// A worker in another process than the engine, over HTTP. It uses the same handlers as `Engine::handle`.
//
//   cairn::WorkerOptions options;
//   options.server = "http://127.0.0.1:8400";
//   auto worker = cairn::Worker::open(options);
//   (*worker)->handle("billing.charge.v1", [](const cairn::Work& work) { return charge(work.payload); });
//   (*worker)->start();
//   …
//   (*worker)->stop(std::chrono::seconds(30));
//
// A handler returns the result or a Failure. Class business is not retried; other classes are retried while attempts
// are left. The worker renews leases while a handler runs. `work.stop` is requested when the run is cancelled or its
// lease is lost. A result is sent again until it is accepted or its lease ends.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cairn/work.h"

namespace cairn {

struct WorkerOptions {
  std::string server;           // http://HOST:PORT or https://…
  std::string token;            // empty: none
  std::string ca_file;          // PEM: authorities to trust besides the system's
  std::string name = "worker";  // for display; a random part makes it unique
  std::size_t threads = 4;      // concurrent handlers
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  std::chrono::milliseconds poll = std::chrono::seconds(20);  // how long one lease request waits for runs
  // The run types to lease, instead of the types of the handlers. A run without a handler then fails as
  // no_handler_registered. If empty, the environment may name them: CAIRN_WORKER_TYPE_PREFIXES or WORKER_TYPE_PREFIXES,
  // separated by commas.
  std::vector<std::string> prefixes;
};

class Worker {
 public:
  // ErrorCode::invalid if the URL is not valid.
  static Result<std::unique_ptr<Worker>> open(WorkerOptions options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Handles runs of this type, or of every type below it if it ends with a dot. `*` handles every type; a worker with
  // no other handler and no prefixes leases `default.`. Call it before `start`.
  void handle(const std::string& type, WorkHandler handler);
  void start();
  // Leases nothing new, waits for handlers at most `grace`, and returns runs that have not started.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(30));

  const std::string& name() const;

 private:
  struct Parts;
  explicit Worker(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace cairn
