// A worker outside the engine's process, over HTTP. Handlers are the same functions as in `Engine::handle`.
//
//   cairn::WorkerOptions options;
//   options.server = "http://127.0.0.1:8400";
//   auto worker = cairn::Worker::open(options);
//   (*worker)->handle("billing.charge.v1", [](const cairn::Work& work) { return charge(work.payload); });
//   (*worker)->start();
//   …
//   (*worker)->stop(std::chrono::seconds(30));
//
// A handler returns the result or a Failure; class business is not tried again, others are while attempts are
// left. Leases are kept alive while a handler works; `work.stop` is asked for when the run was cancelled or its
// lease is lost. A result is kept and sent again until its lease has ended.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cairn/engine.h"

namespace cairn {

struct WorkerOptions {
  std::string server;           // http://HOST:PORT or https://…
  std::string token;            // empty: none
  std::string ca_file;          // PEM: authorities to trust besides the system's
  std::string name = "worker";  // for people; made unique with a random part
  std::size_t threads = 4;      // handlers at work at once
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  std::chrono::milliseconds poll = std::chrono::seconds(20);  // how long one question waits for runs
  // What to lease, instead of what the handlers are for. A run without a handler then fails as
  // no_handler_registered.
  std::vector<std::string> prefixes;
};

class Worker {
 public:
  // ErrorCode::invalid for an URL that is none.
  static Result<std::unique_ptr<Worker>> open(WorkerOptions options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Before `start`. Runs of this type, or of every type below it when it ends with a dot.
  void handle(const std::string& type, WorkHandler handler);
  void start();
  // Takes nothing new, waits for handlers at most `grace`, gives back what has not begun.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(30));

  const std::string& name() const;

 private:
  struct Parts;
  explicit Worker(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace cairn
