// A worker in a process of its own, over HTTP. Usage: worker [SERVER], e.g. worker http://127.0.0.1:8400. Enter ends
// it.
#include <chrono>
#include <iostream>

#include "cairn/worker.h"

namespace {

cairn::WorkDone reserve(const cairn::Work& work) {
  const cairn::Json& amount = work.payload["amount"];
  if (amount.is_integer() && amount.as_integer() > 10) {
    return cairn::Failure{cairn::FailureClass::business, "not_in_stock", "only 10 are left"};
  }
  return cairn::Json::object({{"reserved", work.payload["sku"]}, {"key", work.idempotency_key}});
}

}  // namespace

int main(int count, char** arguments) {
  cairn::WorkerOptions options;
  options.server = count > 1 ? arguments[1] : "http://127.0.0.1:8400";
  const auto worker = cairn::Worker::open(options);
  if (!worker) {
    std::cerr << worker.error().message << "\n";
    return 1;
  }
  (*worker)->handle("stock.reserve.v1", reserve);
  (*worker)->start();
  std::cin.get();
  (*worker)->stop(std::chrono::seconds(30));
}
