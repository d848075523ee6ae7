#include "cli/dev_examples.h"

#include "cli/embedded_examples.h"
#include "definition/definition.h"
#include "definition/program.h"
#include "engine/core.h"

namespace cairn::cli {
namespace {

struct Example {
  std::string_view file;
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

// Whether the deployed definition is ours. A user's own definition may have the same name.
bool is_deployed(Engine& engine, const Example& example) {
  const auto deployed = engine.core().registry().find(example.definition, std::nullopt);
  if (!deployed) return false;
  for (const EmbeddedExample& embedded : embedded_examples()) {
    if (embedded.name != example.file) continue;
    const Definition ours = load_definition(embedded.text, std::string(embedded.name));
    return ours.valid() && ours.program->digest == (*deployed)->digest;
  }
  return false;
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
      {"hello.yaml", "hello", Json::object({{"name", "Ada"}})},
      {"card-payment.yaml", "card.payment", Json::object({{"order", "A-17"}, {"amount", "49.90"}})},
      {"parcel.yaml", "parcel", Json::object({{"to", "Ada"}})},
  };
  std::size_t started = 0;
  for (const Example& example : examples) {
    if (!is_deployed(engine, example)) continue;
    StartRequest request;
    request.definition = example.definition;
    request.input = example.input;
    CAIRN_TRY_VOID(engine.start(request));
    ++started;
  }
  return started;
}

}  // namespace cairn::cli
