// W5: the job queue. Bulk enqueue and drain, single enqueues, and the delay until an idle worker starts.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "engine/core.h"
#include "workloads/rows.h"

namespace cairn::bench {

namespace {

// A type for each part: on a server they share a store, and no part may process the runs of another.
constexpr const char* drained_type = "bench.drained.v1";
constexpr const char* single_type = "bench.single.v1";
constexpr const char* idle_type = "bench.idle.v1";

RunRequest job(const char* type, std::size_t number) {
  RunRequest request;
  request.type = type;
  request.payload = Json::object({{"i", static_cast<std::int64_t>(number)}});
  return request;
}

// Counts finished handlers. Wakes a waiting thread once when the count is reached: waking it for each job would cost
// more than the jobs.
class Done {
 public:
  void one_more() {
    const std::lock_guard lock(mutex_);
    if (++count_ == awaited_) changed_.notify_one();
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    awaited_ = count;
    return changed_.wait_for(lock, std::chrono::seconds(120), [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
  std::size_t awaited_ = 0;
};

Result<bool> has_any(Engine& engine, RunStatus status) {
  RunFilter filter;
  filter.status = status;
  filter.type_prefix = drained_type;
  CAIRN_TRY(const auto page, engine.store().list_runs(filter, {1, ""}));
  return !page.items.empty();
}

Result<Row> drain(const Plan& plan, std::size_t count) {
  constexpr std::size_t chunk = 5000;
  CAIRN_TRY(Stage stage, Stage::open(plan, {}));
  const Meter enqueue;
  for (std::size_t at = 0; at < count; at += chunk) {
    std::vector<RunRequest> requests;
    requests.reserve(chunk);
    for (std::size_t i = at; i < std::min(count, at + chunk); ++i) requests.push_back(job(drained_type, i));
    CAIRN_TRY_VOID(stage.engine->core().runs().submit_all(requests));
  }
  const double enqueued_s = enqueue.read().wall_s;
  Done done;
  stage.engine->handle(drained_type, [&](const Work&) {
    done.one_more();
    return WorkDone(Json());
  });
  const Meter meter;
  stage.engine->run();
  if (!done.wait_for(count)) return Error{ErrorCode::internal, "not every job was done"};
  stage.engine->stop();  // after every job is recorded
  Row row;
  row.cost = meter.read();
  for (const RunStatus open : {RunStatus::leased, RunStatus::pending}) {
    CAIRN_TRY(const bool left, has_any(*stage.engine, open));
    if (left) return Error{ErrorCode::internal, "a job was not recorded as complete"};
  }
  row.count = count;
  row.rate = row.rate_low = row.rate_high = static_cast<double>(count) / row.cost.wall_s;
  row.extra.set("bulk_enqueued_per_second", static_cast<double>(count) / enqueued_s);
  return row;
}

Result<Row> enqueue_singly(const Plan& plan) {
  CAIRN_TRY(Stage stage, Stage::open(plan, {}));
  return closed_loop(plan, 64, [&](int) -> Result<void> {
    CAIRN_TRY_VOID(stage.engine->core().runs().submit(job(single_type, 0)));
    return {};
  });
}

Result<Row> idle_latency(const Plan& plan, std::size_t samples) {
  CAIRN_TRY(Stage stage, Stage::open(plan, {}));
  Done done;
  std::chrono::steady_clock::time_point began;
  stage.engine->handle(idle_type, [&](const Work&) {
    began = std::chrono::steady_clock::now();
    done.one_more();
    return WorkDone(Json());
  });
  stage.engine->run();
  Latencies latencies;
  std::minstd_rand random(1);
  std::exponential_distribution<double> gap(1 / 25.0);
  const Meter meter;
  for (std::size_t i = 0; i < samples; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(static_cast<long>(gap(random) * 1000)));
    const auto sent = std::chrono::steady_clock::now();
    CAIRN_TRY_VOID(stage.engine->core().runs().submit(job(idle_type, i)));
    if (!done.wait_for(i + 1)) return Error{ErrorCode::internal, "a job was not begun"};
    latencies.add(std::chrono::duration<double, std::milli>(began - sent).count());
  }
  latencies.sort();
  Row row;
  row.cost = meter.read();
  row.count = samples;
  row.rate = row.rate_low = row.rate_high = static_cast<double>(samples) / row.cost.wall_s;
  row.p50_ms = latencies.at(0.5);
  row.p99_ms = latencies.at(0.99);
  row.max_ms = latencies.max();
  return row;
}

}  // namespace

Result<std::vector<Row>> run_w5(const Plan& plan) {
  const std::size_t count = plan.scaled(20'000);
  plan.progress("W5, " + std::to_string(count) + " jobs");
  CAIRN_TRY(Row drained, median_of(plan, [&] { return drain(plan, count); }));
  drained.variant = "drained";
  CAIRN_TRY(Row single, median_of(plan, [&] { return enqueue_singly(plan); }));
  single.variant = "enqueued one at a time";
  CAIRN_TRY(Row idle, median_of(plan, [&] { return idle_latency(plan, plan.scaled(200)); }));
  idle.variant = "from enqueued to begun, idle";
  std::vector<Row> rows{drained, single, idle};
  for (Row& row : rows) row.workload = "W5";
  return rows;
}

}  // namespace cairn::bench
