// The speed of expressions: typical conditions of issue trackers and loan offices, compiled once and evaluated over
// JSON, and the compilation itself.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "expr/expression.h"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

// Counted, because evaluation promises "no allocation".
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace cairn::expr {
namespace {

const Json input =
    *parse_json(R"({"amount": 250, "tier": "b", "applicationNo": "A-17", "customerId": "C-1", "rate": 0.035})");

// About 1 KB, like the state of a loan application after some steps.
const Json state = *parse_json(R"({
  "amount": 25000, "decision": "pending", "maker": "u.meyer@example.com", "currency": "EUR", "term_months": 48,
  "score": {"value": 712, "model": "v7", "reasons": ["income", "history", "age_of_account"], "at": "2024-05-02T10:11:12Z"},
  "applicant": {"id": "C-10023", "name": "Anna Example", "age": 41, "income": 4300.5, "country": "DE",
    "address": {"street": "Hauptstr. 5", "city": "Freiburg", "zip": "79098"}},
  "documents": [{"kind": "passport", "ok": true, "pages": 2}, {"kind": "payslip", "ok": true, "pages": 3},
    {"kind": "contract", "ok": false, "pages": 14}],
  "checks": {"identity": "passed", "sanctions": "passed", "fraud": {"score": 0.12, "flags": []}},
  "notes": ["called the customer on monday", "waiting for the signed contract", "sent a reminder by mail"],
  "history": [{"at": "2024-05-01T08:00:00Z", "what": "created"}, {"at": "2024-05-02T10:11:12Z", "what": "scored"},
    {"at": "2024-05-03T09:30:00Z", "what": "assigned"}],
  "flags": {"vip": false, "manual": true, "test": false}, "limit": 50000, "region": "south"
})");

Environment environment() { return {{{"input", Type::dyn()}, {"state", Type::dyn()}}, false}; }

Expression compiled(std::string_view text) {
  auto result = compile(text, environment());
  CAIRN_ASSERT(result.has_value());
  return *result;
}

void condition(benchmark::State& bench, std::string_view text) {
  const Expression expression = compiled(text);
  const Value values[] = {Value::borrow(input), Value::borrow(state)};
  const std::uint64_t before = allocations.load();
  std::uint64_t rounds = 0;
  for (auto _ : bench) {
    const auto result = expression.evaluate_condition(values);
    CAIRN_ASSERT(result.has_value());
    benchmark::DoNotOptimize(*result);
    ++rounds;
  }
  bench.counters["allocations"] = static_cast<double>(allocations.load() - before) / static_cast<double>(rounds);
}

void json_value(benchmark::State& bench, std::string_view text) {
  const Expression expression = compiled(text);
  const Value values[] = {Value::borrow(input), Value::borrow(state)};
  for (auto _ : bench) {
    const auto result = expression.evaluate_json(values);
    CAIRN_ASSERT(result.has_value());
    benchmark::DoNotOptimize(*result);
  }
}

void compiling(benchmark::State& bench, std::string_view text) {
  const Environment names = environment();
  for (auto _ : bench) {
    auto result = compile(text, names);
    benchmark::DoNotOptimize(result);
  }
}

constexpr std::string_view small_condition = R"(input.amount > 100 && input.tier in ["a","b"])";
// Twenty nodes: names, members, literals, comparisons, logic and a sum.
constexpr std::string_view twenty_nodes =
    R"(state.score.value >= 700 && state.amount + input.amount < state.limit && state.applicant.country == "DE" && !state.flags.test)";

BENCHMARK_CAPTURE(condition, small, small_condition);
BENCHMARK_CAPTURE(condition, twenty_nodes, twenty_nodes);
BENCHMARK_CAPTURE(condition, loop, R"(state.documents.all(d, d.ok || d.pages > 10))");
BENCHMARK_CAPTURE(condition, absent, R"(has(state.checks.fraud.verdict) || state.checks.fraud.score < 0.5)");
BENCHMARK_CAPTURE(json_value, object,
                  R"({"customer": input.customerId, "amount": state.amount, "city": state.applicant.address.city})");
BENCHMARK_CAPTURE(json_value, text, R"("Review " + input.applicationNo + " of " + state.applicant.name)");
BENCHMARK_CAPTURE(compiling, small, small_condition);
BENCHMARK_CAPTURE(compiling, twenty_nodes, twenty_nodes);

}  // namespace
}  // namespace cairn::expr
