// The measured workflows. Those of the kernel have an input of a common size, so that a snapshot is about one kilobyte.
// The call workflows are those of bench/peers, with empty input and payload.
#pragma once

#include <string_view>

#include "base/json.h"

namespace cairn::bench {

inline constexpr std::string_view one_wait = R"(
cairn: 1
name: one-wait
version: 1.0.0
steps:
  - signal: { name: go, result: answer }
output: = state.answer
)";

inline constexpr std::string_view five_checkpoints = R"(
cairn: 1
name: five-checkpoints
version: 1.0.0
checkpoint: step
steps:
  - set: { a: 1 }
  - set: { b: = state.a + 1 }
  - set: { c: = state.b + 1 }
  - set: { d: = state.c + 1 }
  - set: { e: = state.d + 1 }
output: = state.e
)";

inline constexpr std::string_view one_call = R"(
cairn: 1
name: one-call
version: 1.0.0
steps:
  - id: first
    call: { worker: { type: bench.work.v1, payload: {} }, result: a }
output: = state.a
)";

inline constexpr std::string_view five_calls = R"(
cairn: 1
name: five-calls
version: 1.0.0
steps:
  - id: first
    call: { worker: { type: bench.work.v1, payload: {} }, result: a }
  - id: second
    call: { worker: { type: bench.work.v1, payload: {} }, result: b }
  - id: third
    call: { worker: { type: bench.work.v1, payload: {} }, result: c }
  - id: fourth
    call: { worker: { type: bench.work.v1, payload: {} }, result: d }
  - id: fifth
    call: { worker: { type: bench.work.v1, payload: {} }, result: e }
output: = state.e
)";

inline constexpr std::string_view one_timer = R"(
cairn: 1
name: one-timer
version: 1.0.0
steps:
  - wait: { until: = timestamp(input.at) }
output: done
)";

inline constexpr std::string_view one_task = R"(
cairn: 1
name: one-task
version: 1.0.0
steps:
  - task: { name: Review, title: = "Review " + input.order, roles: [clerk], result: answer }
output: = state.answer
)";

// An order with an address and three lines: about 600 bytes.
inline Json order_input() {
  const auto line = [](const char* item, int count, double price) {
    return Json::object(
        {{"item", item}, {"count", count}, {"price", price}, {"note", "as agreed in the contract of May"}});
  };
  return Json::object(
      {{"order", "O-2026-004711"},
       {"customer", Json::object({{"name", "Ada Lovelace"},
                                  {"street", "12 St James's Square"},
                                  {"city", "London"},
                                  {"mail", "ada@example.com"}})},
       {"lines", Json::array({line("gear wheel, brass, 40 mm", 12, 3.75), line("punched cards, box of 500", 2, 14.2),
                              line("oil, mineral, light", 1, 8.9)})},
       {"delivery", Json::object({{"method", "carrier"}, {"before", "2026-12-24"}, {"insured", true}})}});
}

}  // namespace cairn::bench
