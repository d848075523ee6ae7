// Evaluates and compiles the expressions of expressions.json and counts allocations. `compare.sh` runs the same
// expressions in JavaScript.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <sstream>

#include "base/json.h"
#include "expr/expression.h"

namespace {

std::size_t allocations = 0;

}  // namespace

// The compiler inlines one of the pair and then warns about the other.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) {
  ++allocations;
  if (void* block = std::malloc(size)) return block;
  std::abort();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#pragma GCC diagnostic pop

namespace cairn::expr {
namespace {

struct Subject {
  Json document;
  Environment environment;
  std::vector<Value> bindings;
};

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "expr_compare_bench: %s\n", why.c_str());
  std::exit(1);
}

// On the heap and never moved, because the bindings borrow from the document.
std::unique_ptr<const Subject> load() {
  std::ifstream file(CAIRN_SOURCE_DIR "/bench/expr/expressions.json");
  std::stringstream text;
  text << file.rdbuf();
  auto document = parse_json(text.str());
  if (!document) stop(document.error().message);
  auto subject = std::make_unique<Subject>();
  subject->document = std::move(*document);
  for (const auto& member : subject->document["context"].members()) {
    subject->environment.variables.push_back({member.key.str()});
    subject->bindings.push_back(Value::borrow(member.value));
  }
  return subject;
}

const Subject& subject() {
  static const std::unique_ptr<const Subject> held = load();
  return *held;
}

Expression compiled(const std::string& text) {
  auto expression = compile(text, subject().environment);
  if (!expression) stop(text + ": " + expression.error().front().message);
  return *std::move(expression);
}

void evaluate(benchmark::State& state, const std::string& text) {
  const Expression expression = compiled(text);
  const Bindings bindings = subject().bindings;
  if (auto once = expression.evaluate(bindings); !once) stop(text + ": " + once.error().message);
  const std::size_t before = allocations;
  for (auto _ : state) {
    auto result = expression.evaluate(bindings);
    benchmark::DoNotOptimize(result);
  }
  state.counters["allocations"] = static_cast<double>(allocations - before) / static_cast<double>(state.iterations());
}

void compile_only(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    auto expression = compile(text, subject().environment);
    benchmark::DoNotOptimize(expression);
  }
}

[[maybe_unused]] const bool registered = [] {
  for (const Json& one : subject().document["expressions"].items()) {
    const std::string name(one["name"].as_string());
    const std::string text(one["expr"].as_string());
    benchmark::RegisterBenchmark(("evaluate/" + name).c_str(),
                                 [text](benchmark::State& state) { evaluate(state, text); });
    benchmark::RegisterBenchmark(("compile/" + name).c_str(),
                                 [text](benchmark::State& state) { compile_only(state, text); });
  }
  return true;
}();

}  // namespace
}  // namespace cairn::expr
