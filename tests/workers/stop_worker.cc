// A worker of stop_test.py: stop_worker SERVER LEDGER TYPE
#include <pthread.h>

#include <csignal>
#include <future>
#include <iostream>

#include "cairn/worker.h"
#include "transport/http_client.h"

namespace {

cairn::WorkDone write(cairn::HttpClient& client, const std::string& ledger, const cairn::Work& work) {
  cairn::HttpCall call;
  call.method = "POST";
  call.url = ledger + "/effects";
  call.headers = {{"Content-Type", "application/json"}, {"Idempotency-Key", work.idempotency_key}};
  call.body = cairn::write_json(work.payload);
  call.has_body = true;
  std::promise<cairn::Result<cairn::HttpReply, cairn::HttpProblem>> answered;
  client.send(
      call, cairn::Duration::of_seconds(60), {},
      [&answered](cairn::Result<cairn::HttpReply, cairn::HttpProblem> reply) { answered.set_value(std::move(reply)); });
  const auto reply = answered.get_future().get();
  if (!reply) throw std::runtime_error(reply.error().message);
  auto document = cairn::parse_json(reply->body);
  if (!document) throw std::runtime_error(document.error().message);
  return std::move(*document);
}

}  // namespace

int main(int, char** arguments) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  auto policy = cairn::EgressPolicy::make({"127.0.0.1", "http://*"});
  cairn::HttpClient client(std::move(*policy));
  cairn::WorkerOptions options;
  options.server = arguments[1];
  options.poll = std::chrono::seconds(5);
  auto worker = cairn::Worker::open(options);
  if (!worker) {
    std::cerr << worker.error().message << "\n";
    return 1;
  }
  (*worker)->handle(arguments[3], [&client, ledger = std::string(arguments[2])](const cairn::Work& work) {
    return write(client, ledger, work);
  });
  (*worker)->start();
  std::cout << "working" << std::endl;
  int received = 0;
  sigwait(&ends, &received);
  (*worker)->stop(std::chrono::seconds(30));
  return 0;
}
