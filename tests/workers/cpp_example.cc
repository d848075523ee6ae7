// The same example as in clients/python and clients/typescript, with the C++ client: cpp_example URL
#include <pthread.h>

#include <condition_variable>
#include <csignal>
#include <iostream>
#include <mutex>

#include "cairn/worker.h"

namespace {

cairn::WorkDone charge(const cairn::Work& work) {
  const cairn::Json& given = work.payload["amount"];
  if (!given.is_number()) throw std::invalid_argument("a charge needs an amount");
  const double amount = given.as_double();
  if (amount > 1000) {
    return cairn::Failure{cairn::FailureClass::business,
                          "limit",
                          "more than this card may be charged",
                          cairn::Json::object({{"limit", 1000}}),
                          1,
                          "",
                          ""};
  }
  if (amount < 0 && work.attempt == 1) {
    cairn::WorkDone later =
        cairn::Failure{cairn::FailureClass::transport, "retry_later", "the bank is closed", {}, 1, "", ""};
    later.retry_after = cairn::Duration();
    return later;
  }
  return cairn::Json::object(
      {{"charged", given}, {"key", work.idempotency_key}, {"attempt", work.attempt}, {"trace", work.traceparent()}});
}

// Longer than its lease: the client keeps it alive. Ends early when the run is cancelled.
cairn::WorkDone slow(const cairn::Work& work) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  const auto length = std::chrono::milliseconds(static_cast<long>(work.payload["seconds"].as_double() * 1000));
  woken.wait_for(lock, work.stop, length, [] { return false; });
  return cairn::Json("done");
}

}  // namespace

int main(int, char** arguments) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  cairn::WorkerOptions options;
  options.server = arguments[1];
  options.name = "billing";
  auto worker = cairn::Worker::open(options);
  if (!worker) {
    std::cerr << worker.error().message << "\n";
    return 1;
  }
  (*worker)->handle("billing.charge.v1", charge);
  (*worker)->handle("billing.slow.", slow);
  (*worker)->start();
  std::cout << "working" << std::endl;
  int received = 0;
  sigwait(&ends, &received);
  (*worker)->stop(std::chrono::seconds(30));
  return 0;
}
