// bench/workloads holds the workloads of `cairn-bench`, one file each; workloads.cc lists them. A workload fills its
// own store, drives it and returns one row per level of load. `closed_loop` measures throughput at a fixed number of
// outstanding requests; Meter (meter.h) measures the cost. The module may use the whole product; nothing in the product
// uses it. Read `closed_loop` first, then one_wait.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cairn/engine.h"
#include "workloads/meter.h"
#include "workloads/scratch.h"

namespace cairn::bench {

struct Plan {
  std::string store = "sqlite";  // sqlite, memory, or the URL of an empty store, which is kept
  std::string folder = ".";      // where scratch stores are created: the measured disk
  std::vector<int> outstanding = {1, 16, 64, 256};
  double seconds = 2;            // of each closed loop, after a warm-up of a quarter of it (at most one second)
  int repeats = 3;               // at least 1; the median is taken
  double scale = 1;              // for the fixed numbers of instances
  std::size_t instances = 1000;  // for the workload "scale": how many exist before the measurement
  std::optional<std::size_t> piece_bytes_min;  // for "scale-instance": Limits::piece_bytes_min
  std::function<void(const std::string&)> progress = [](const std::string&) {};

  std::size_t scaled(std::size_t count) const;
  double warm_up_s() const;
};

struct Row {
  std::string workload;
  std::string variant;  // further details; may be empty
  int outstanding = 0;  // 0: not a closed loop
  std::uint64_t count = 0;
  double rate = 0;  // per second
  double rate_low = 0, rate_high = 0;
  double p50_ms = 0, p99_ms = 0, max_ms = 0;
  Cost cost;
  Json extra = Json::object();  // further figures of this workload
};

struct Workload {
  std::string_view name;
  std::string_view summary;
  Result<std::vector<Row>> (*run)(const Plan& plan);
  bool by_name_only = false;  // not part of a full run
};
std::span<const Workload> workloads();

// A store in its own folder, with an engine.
struct Stage {
  std::optional<Scratch> scratch;  // on SQLite
  std::string url;
  std::unique_ptr<Engine> engine;

  static Result<Stage> open(const Plan& plan, std::span<const std::string_view> definitions, const Limits& limits = {});
};

Result<std::unique_ptr<Engine>> open_engine(const std::string& url);

// Repeats `op` on `outstanding` threads for the plan's time. A failed op ends the run with its error.
Result<Row> closed_loop(const Plan& plan, int outstanding, const std::function<Result<void>(int thread)>& op);
// The same without a thread for each: `op` calls `done` once, from any thread, and the next op starts there.
using OpDone = std::function<void(Result<void>)>;
Result<Row> callback_loop(const Plan& plan, int outstanding, const std::function<void(int lane, OpDone done)>& op);
// Does op(0) … op(count - 1), `outstanding` at a time.
Result<Row> each_once(std::size_t count, int outstanding, const std::function<Result<void>(std::size_t)>& op);
// The row with the median rate, with the range of all rows.
Row median_row(std::vector<Row> rows);
// The median of plan.repeats runs.
Result<Row> median_of(const Plan& plan, const std::function<Result<Row>()>& run);

}  // namespace cairn::bench
