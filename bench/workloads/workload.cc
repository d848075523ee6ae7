#include "workloads/workload.h"

#include <algorithm>
#include <atomic>
#include <latch>
#include <mutex>
#include <thread>

#include "workloads/disk_counts.h"

namespace cairn::bench {

namespace {

using Moment = std::chrono::steady_clock::time_point;

double ms_between(Moment from, Moment to) { return std::chrono::duration<double, std::milli>(to - from).count(); }

Row row_of(Latencies latencies, const Cost& cost) {
  latencies.sort();
  Row row;
  row.count = latencies.count();
  row.rate = row.rate_low = row.rate_high = static_cast<double>(row.count) / cost.wall_s;
  row.p50_ms = latencies.at(0.5);
  row.p99_ms = latencies.at(0.99);
  row.max_ms = latencies.max();
  row.cost = cost;
  return row;
}

// The first error of several threads.
class FirstError {
 public:
  void set(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    any_ = true;
  }
  bool any() const { return any_; }
  const std::optional<Error>& get() const { return error_; }

 private:
  std::mutex mutex_;
  std::optional<Error> error_;
  std::atomic<bool> any_ = false;
};

}  // namespace

std::size_t Plan::scaled(std::size_t count) const {
  return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(count) * scale));
}

double Plan::warm_up_s() const { return std::min(1.0, seconds / 4); }

Result<Stage> Stage::open(const Plan& plan, std::span<const std::string_view> definitions, const Limits& limits) {
  Stage stage;
  EngineOptions options;
  options.limits = limits;
  if (plan.store == "sqlite") {
    CAIRN_TRY(Scratch scratch, Scratch::make(plan.folder));
    stage.url = "sqlite:" + scratch.path() + "/store.db";
    stage.scratch.emplace(std::move(scratch));
  } else {
    stage.url = plan.store == "memory" ? "memory:" : plan.store;
  }
  options.store = stage.url;
  count_disk();
  if (stage.url.starts_with("postgres")) count_database(stage.url);
  CAIRN_TRY(stage.engine, Engine::open(options));
  for (const std::string_view definition : definitions) CAIRN_TRY_VOID(stage.engine->deploy(definition));
  return stage;
}

Result<std::unique_ptr<Engine>> open_engine(const std::string& url) {
  EngineOptions options;
  options.store = url;
  return Engine::open(std::move(options));
}

enum Phase { warming, measuring, over };

// Warms up, measures and signals the end; returns the cost of the measurement.
static Cost pass_phases(const Plan& plan, std::atomic<int>& phase, const FirstError& failed) {
  const auto pass = [&](double seconds) {
    const Moment until = std::chrono::steady_clock::now() + std::chrono::microseconds(static_cast<long>(seconds * 1e6));
    while (std::chrono::steady_clock::now() < until && !failed.any()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  pass(plan.warm_up_s());
  const Meter meter;
  phase = measuring;
  pass(plan.seconds);
  const Cost cost = meter.read();
  phase = over;
  return cost;
}

static Result<Row> loop_row(const std::vector<Latencies>& latencies, const Cost& cost, int outstanding) {
  Latencies all;
  for (const Latencies& own : latencies) all.add(own);
  Row row = row_of(std::move(all), cost);
  row.outstanding = outstanding;
  return row;
}

Result<Row> closed_loop(const Plan& plan, int outstanding, const std::function<Result<void>(int)>& op) {
  std::atomic<int> phase = warming;
  FirstError failed;
  std::vector<Latencies> latencies(static_cast<std::size_t>(outstanding));
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(outstanding));
  for (int i = 0; i < outstanding; ++i) {
    threads.emplace_back([&, i] {
      while (phase != over && !failed.any()) {
        const Moment began = std::chrono::steady_clock::now();
        if (auto done = op(i); !done) return failed.set(done.error());
        if (phase == measuring) {
          latencies[static_cast<std::size_t>(i)].add(ms_between(began, std::chrono::steady_clock::now()));
        }
      }
    });
  }
  const Cost cost = pass_phases(plan, phase, failed);
  threads.clear();
  if (failed.get()) return *failed.get();
  return loop_row(latencies, cost, outstanding);
}

Result<Row> callback_loop(const Plan& plan, int outstanding, const std::function<void(int, OpDone)>& op) {
  std::atomic<int> phase = warming;
  FirstError failed;
  std::vector<Latencies> latencies(static_cast<std::size_t>(outstanding));
  std::latch ended(outstanding);
  const std::function<void(int)> next = [&](int lane) {
    if (phase == over || failed.any()) return ended.count_down();
    op(lane, [&, lane, began = std::chrono::steady_clock::now()](Result<void> done) {
      if (!done) failed.set(done.error());
      if (done && phase == measuring) {
        latencies[static_cast<std::size_t>(lane)].add(ms_between(began, std::chrono::steady_clock::now()));
      }
      next(lane);
    });
  };
  for (int lane = 0; lane < outstanding; ++lane) next(lane);
  const Cost cost = pass_phases(plan, phase, failed);
  ended.wait();
  if (failed.get()) return *failed.get();
  return loop_row(latencies, cost, outstanding);
}

Result<Row> each_once(std::size_t count, int outstanding, const std::function<Result<void>(std::size_t)>& op) {
  std::atomic<std::size_t> next = 0;
  FirstError failed;
  std::vector<Latencies> latencies(static_cast<std::size_t>(outstanding));
  const Meter meter;
  {
    std::vector<std::jthread> threads;
    threads.reserve(static_cast<std::size_t>(outstanding));
    for (int i = 0; i < outstanding; ++i) {
      threads.emplace_back([&, i] {
        for (std::size_t at = next++; at < count && !failed.any(); at = next++) {
          const Moment began = std::chrono::steady_clock::now();
          if (auto done = op(at); !done) return failed.set(done.error());
          latencies[static_cast<std::size_t>(i)].add(ms_between(began, std::chrono::steady_clock::now()));
        }
      });
    }
  }
  const Cost cost = meter.read();
  if (failed.get()) return *failed.get();
  Latencies all;
  for (const Latencies& own : latencies) all.add(own);
  Row row = row_of(std::move(all), cost);
  row.outstanding = outstanding;
  return row;
}

Row median_row(std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.rate < b.rate; });
  Row median = rows[rows.size() / 2];
  median.rate_low = rows.front().rate;
  median.rate_high = rows.back().rate;
  return median;
}

Result<Row> median_of(const Plan& plan, const std::function<Result<Row>()>& run) {
  std::vector<Row> rows;
  for (int i = 0; i < plan.repeats; ++i) {
    CAIRN_TRY(Row row, run());
    rows.push_back(std::move(row));
  }
  return median_row(std::move(rows));
}

}  // namespace cairn::bench
