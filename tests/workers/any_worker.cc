// A worker of prefixes_test.py: any_worker SERVER. Its only handler takes every type.
#include <pthread.h>

#include <csignal>
#include <iostream>

#include "cairn/worker.h"

int main(int, char** arguments) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  cairn::WorkerOptions options;
  options.server = arguments[1];
  auto worker = cairn::Worker::open(options);
  if (!worker) {
    std::cerr << worker.error().message << "\n";
    return 1;
  }
  (*worker)->handle("*", [](const cairn::Work& work) -> cairn::WorkDone { return cairn::Json(work.type); });
  (*worker)->start();
  std::cout << "working" << std::endl;
  int received = 0;
  sigwait(&ends, &received);
  (*worker)->stop(std::chrono::seconds(30));
  return 0;
}
