#include "cli/dev_examples.h"

namespace cairn::cli {
namespace {

struct Example {
  const char* id;
  const char* definition;
  Json input;
};

WorkDone fail_at_first(const Work& work) {
  const Json* const fail = work.payload.find("fail");
  if (fail == nullptr || !fail->is_integer() || work.attempt > fail->as_integer()) return WorkDone(work.payload);
  Failure failure;
  failure.failure_class = FailureClass::transport;
  failure.code = "bank_unavailable";
  failure.message = "the bank does not answer (this example fails " + std::to_string(fail->as_integer()) + " times)";
  return WorkDone(std::move(failure));
}

}  // namespace

void add_demo_workers(Engine& engine) {
  engine.handle("demo.echo.v1", [](const Work& work) { return WorkDone(work.payload); });
  engine.handle("demo.flaky.v1", fail_at_first);
}

Result<std::size_t> start_examples(Engine& engine) {
  CAIRN_TRY(const Page<InstanceRow> present, engine.core().store().list_instances({}, {1, ""}));
  if (!present.items.empty()) return std::size_t{0};
  const Example examples[] = {
      {"example-person", "hello", Json::object({{"name", "Ada"}})},
      {"example-retrying", "card.payment", Json::object({{"order", "A-17"}, {"amount", "49.90"}})},
      {"example-timer", "parcel", Json::object({{"to", "Ada"}})},
  };
  std::size_t started = 0;
  for (const Example& example : examples) {
    StartRequest request;
    request.id = example.id;
    request.definition = example.definition;
    request.input = example.input;
    const auto answer = engine.start(request);
    // A folder with other definitions has other names.
    if (!answer && answer.error().code != ErrorCode::not_found) return answer.error();
    started += answer ? 1 : 0;
  }
  return started;
}

}  // namespace cairn::cli
