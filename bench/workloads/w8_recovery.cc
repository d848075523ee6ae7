// W8: recovery. A process with many waiting timers is killed, and they become due while no engine runs. Then an engine
// opens the store. Measures how long it takes until the first and the last timer have fired.
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "workloads/definitions.h"
#include "workloads/rows.h"

namespace cairn::bench {

namespace {

// In the process that will be killed: writes the timers, reports that, and continues until the signal arrives.
[[noreturn]] void fill_until_killed(const std::string& url, std::size_t count, int written) {
  // Its clock stands still: timers that are due a moment later stay so, however long the filling takes.
  ManualClock clock(SystemClock().now());
  EngineOptions options;
  options.store = url;
  options.clock = &clock;
  auto engine = Engine::open(options);
  if (!engine || !(*engine)->deploy(one_timer)) ::_exit(1);
  Json input = order_input();
  input.set("at", format_timestamp(add(clock.now(), Duration::of_ms(1)).value_or(clock.now())));
  const auto filled = each_once(count, 128, [&](std::size_t) -> Result<void> {
    CAIRN_TRY_VOID((*engine)->start(request_for("one-timer", input)));
    return {};
  });
  const char answer = filled ? 'y' : 'n';
  if (::write(written, &answer, 1) != 1) ::_exit(1);
  for (;;) ::pause();
}

Result<Row> recover(const Plan& plan, std::size_t count) {
  CAIRN_TRY(const Scratch scratch, Scratch::make(plan.folder));
  const std::string url = "sqlite:" + scratch.path() + "/store.db";
  int told[2];
  if (::pipe(told) != 0) return Error{ErrorCode::unavailable, "no pipe"};
  const pid_t victim = ::fork();
  if (victim == 0) fill_until_killed(url, count, told[1]);
  ::close(told[1]);
  char answer = 'n';
  const bool heard = ::read(told[0], &answer, 1) == 1;
  ::close(told[0]);
  ::kill(victim, SIGKILL);
  ::waitpid(victim, nullptr, 0);
  if (!heard || answer != 'y') return Error{ErrorCode::internal, "the process to be killed could not fill the store"};

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t moved = 0;
  double first_ms = 0;
  const Meter meter;
  CAIRN_TRY(const auto engine, open_engine(url));
  const double open_ms = meter.read().wall_s * 1000;
  engine->on_ended([&](const InstanceId&) {
    const std::lock_guard lock(mutex);
    if (moved++ == 0) first_ms = meter.read().wall_s * 1000;
    if (moved == count) changed.notify_one();
  });
  engine->run();
  {
    std::unique_lock lock(mutex);
    const bool all = changed.wait_for(lock, std::chrono::seconds(60), [&] { return moved == count; });
    if (!all) return Error{ErrorCode::internal, "not every instance has moved"};
  }
  Row row;
  row.count = count;
  row.cost = meter.read();
  row.rate = static_cast<double>(count) / row.cost.wall_s;
  row.max_ms = row.cost.wall_s * 1000;
  row.extra = Json::object({{"open_ms", open_ms}, {"first_ms", first_ms}, {"last_ms", row.max_ms}});
  return row;
}

}  // namespace

Result<std::vector<Row>> run_w8(const Plan& plan) {
  if (plan.store != "sqlite") return std::vector<Row>{};  // the memory store does not survive its process
  const std::size_t count = plan.scaled(100'000);
  plan.progress("W8, " + std::to_string(count) + " instances due after kill -9");
  CAIRN_TRY(Row row, recover(plan, count));
  row.workload = "W8";
  return std::vector{row};
}

}  // namespace cairn::bench
