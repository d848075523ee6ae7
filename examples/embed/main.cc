// cairn inside a program of your own. Usage: order STORE DEFINITION, e.g. order sqlite:orders.db order.yaml
#include <chrono>
#include <iostream>
#include <syncstream>

#include "cairn/engine.h"

namespace {

// A call may be made again after a crash: the key is the same for every attempt, so a payment provider that keeps keys
// charges once.
cairn::WorkDone charge(const cairn::Work& work) {
  std::osyncstream(std::cerr) << "charging " << cairn::write_json(work.payload["amount"]) << " under key "
                              << work.idempotency_key << "\n";
  return cairn::Json::object({{"id", "R-" + std::string(work.payload.text_or("no", "?"))}});
}

template <class T>
T must(cairn::Result<T> result, const char* what) {
  if (result) return std::move(*result);
  std::cerr << what << ": " << result.error().message << "\n";
  std::exit(1);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: order STORE DEFINITION\n";
    return 2;
  }
  const auto engine = must(cairn::Engine::open({.store = arguments[1]}), "open");
  engine->handle("billing.charge.v1", charge);
  must(engine->deploy_file(arguments[2]), "deploy");
  engine->run();

  const cairn::Json input = cairn::Json::object({{"no", "A-17"}, {"amount", 49.9}});
  // With a key, running the program again finds the order instead of starting a second one.
  const auto order = must(engine->start({.definition = "order", .input = input, .idempotency_key = "A-17"}), "start");
  std::osyncstream(std::cerr) << (order.repeated ? "found" : "started") << " order A-17 as " << order.instance.value
                              << "\n";

  // The task opens as soon as the charge has been reported; until then the list is empty.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (;;) {
    const auto tasks = must(engine->tasks(order.instance), "tasks");
    const auto state = must(engine->wait(order.instance, std::chrono::milliseconds(20)), "wait");
    if (cairn::is_final(state.status)) break;
    for (const cairn::OpenTaskView& task : tasks) {
      std::osyncstream(std::cerr) << "packing: " << task.title << "\n";
      must(engine->complete(task.id, cairn::Json::object({{"parcels", 2}}), {"grace", {{"warehouse"}}}), "complete");
      must(engine->broadcast("delivered", "A-17", cairn::Json::object({{"at", "Friday"}})), "broadcast");
    }
    if (std::chrono::steady_clock::now() > patience) {
      std::cerr << "the order does not move\n";
      return 1;
    }
  }
  const auto end = must(engine->find(order.instance), "find");
  std::cout << to_string(end.status) << " " << cairn::write_json(end.output) << "\n";
  engine->stop();
  return end.status == cairn::Status::completed ? 0 : 1;
}
