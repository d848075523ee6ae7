// W1 and W2: workflows whose steps are calls that a worker of this process answers. Each result is durable before the
// next call is made, and the caller receives the end of its workflow.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/clock.h"
#include "base/id.h"
#include "engine/core.h"
#include "workloads/definitions.h"
#include "workloads/rows.h"

namespace cairn::bench {

namespace {

// Callers that wait for the end of a workflow, like Engine::wait but without a thread for each. The engine notifies it
// from a thread that must not make further requests, so a few threads handle the ends and start the next workflows.
class Callers {
 public:
  Callers(Engine& engine, int threads) : engine_(engine) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this](const std::stop_token& stop) { answer(stop); });
  }
  void expect_end(const std::string& instance, OpDone done) {
    auto place = std::make_unique<ResultWaiters::Place>(engine_.core().listeners().results(), InstanceId{instance});
    const std::lock_guard lock(mutex_);
    waiting_.emplace(instance, Caller{std::move(place), std::move(done)});
  }
  void ended(const InstanceId& instance) {
    const std::lock_guard lock(mutex_);
    if (!waiting_.contains(instance.value)) return;
    ended_.push_back(instance);
    changed_.notify_one();
  }
  void failed(const std::string& instance, const Error& error) { take(instance).done(error); }

 private:
  struct Caller {
    std::unique_ptr<ResultWaiters::Place> place;
    OpDone done;
  };
  Caller take(const std::string& instance) {
    const std::lock_guard lock(mutex_);
    return std::move(waiting_.extract(instance).mapped());
  }
  void answer(const std::stop_token& stop) {
    for (;;) {
      InstanceId instance;
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !ended_.empty(); })) return;
        instance = std::move(ended_.front());
        ended_.pop_front();
      }
      Caller caller = take(instance.value);
      // The notification may arrive a moment before the result.
      caller.place->wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
      const auto end = caller.place->end();
      caller.place.reset();
      caller.done(end ? expect(end->status, Status::completed) : look(instance));
    }
  }

  // Reads an end that was not delivered from the store.
  Result<void> look(const InstanceId& instance) {
    CAIRN_TRY(const InstanceAnswer state, engine_.find(instance));
    return expect(state.status, Status::completed);
  }

  Engine& engine_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::unordered_map<std::string, Caller> waiting_;
  std::deque<InstanceId> ended_;
  std::vector<std::jthread> threads_;  // last, so that they end first
};

Result<Row> call_in_turn(const Plan& plan, int outstanding, std::string_view definition, const std::string& name) {
  CAIRN_TRY(Stage stage, Stage::open(plan, std::array{definition}));
  Engine& engine = *stage.engine;
  const Json answer = Json::object({{"ok", true}});
  engine.handle("bench.work.v1", [&](const Work&) { return WorkDone(answer); });
  Callers callers(engine, std::min(outstanding, 4));
  engine.on_ended([&](const InstanceId& instance) { callers.ended(instance); });
  engine.run();
  SystemClock clock;
  const Json input = Json::object();
  auto row = callback_loop(plan, outstanding, [&](int, const OpDone& done) {
    StartRequest request = request_for(name, input);
    request.id = new_uuid(clock.now());
    callers.expect_end(request.id, done);
    engine.start(request, [&callers, id = request.id](const Result<InstanceAnswer>& begun) {
      if (!begun) callers.failed(id, begun.error());
    });
  });
  engine.stop();
  return row;
}

Result<std::vector<Row>> run_calls(const Plan& plan, std::string_view workload, std::string_view definition,
                                   const std::string& name) {
  std::vector<Row> rows;
  for (const int outstanding : plan.outstanding) {
    plan.progress(std::string(workload) + ", " + std::to_string(outstanding) + " outstanding");
    CAIRN_TRY(Row row, median_of(plan, [&] { return call_in_turn(plan, outstanding, definition, name); }));
    row.workload = workload;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> run_w1(const Plan& plan) { return run_calls(plan, "W1", one_call, "one-call"); }
Result<std::vector<Row>> run_w2(const Plan& plan) { return run_calls(plan, "W2", five_calls, "five-calls"); }

}  // namespace cairn::bench
