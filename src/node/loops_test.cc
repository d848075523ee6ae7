#include "node/loops.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <mutex>

#include "base/clock.h"
#include "definition/definition.h"
#include "schedule/schedules.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn::node {
namespace {

TEST(Loops, WorkThatCannotBeDoneNowIsTriedAgainAfterAPause) {
  const Timestamp looked_at = Timestamp::of_unix_ms(1'700'000'000'000);
  const Timestamp earlier = Timestamp::of_unix_ms(1'699'999'000'000);
  const Timestamp later = Timestamp::of_unix_ms(1'700'000'000'001);
  const Timestamp pause_over = Timestamp::of_unix_ms(1'700'000'001'000);
  EXPECT_EQ(next_look(std::nullopt, looked_at), std::nullopt);
  EXPECT_EQ(next_look(later, looked_at), later);
  EXPECT_EQ(next_look(looked_at, looked_at), pause_over) << "it was due in this pass";
  EXPECT_EQ(next_look(earlier, looked_at), pause_over);
}

// Loses its connection once, when schedules are read.
class OnceAwayStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::optional<ScheduleRow>> find_schedule(const std::string& name) override {
    if (is_away()) return Error{ErrorCode::unavailable, "away"};
    return ForwardingStore::find_schedule(name);
  }
  Result<Page<ScheduleRow>> list_schedules(const PageRequest& page) override {
    if (is_away()) return Error{ErrorCode::unavailable, "away"};
    return ForwardingStore::list_schedules(page);
  }
  Result<PutSchedule> put_schedule(const ScheduleRow& row) override {
    auto put = ForwardingStore::put_schedule(row);
    if (waits_for_last && row.queued.size() == 0) {
      waits_for_last = false;
      last.set_value(row.last);
    }
    return put;
  }
  std::atomic<bool> away = false, waits_for_last = false;
  std::promise<Json> last;  // of the first row without a queue, while it is waited for

 private:
  bool is_away() { return away.exchange(false); }
};

class QueuedFirings : public testing::Test {
 protected:
  void SetUp() override {
    attach_schedules(*core_);
    constexpr const char* text = "cairn: 1\nname: slow\nversion: 1.0.0\nsteps:\n  - signal: { name: go }\n";
    ASSERT_TRUE(deploy(*core_, load_definition(text, "test.yaml").program));
    core_->listeners().on_wakeup([this](const Wakeup& wakeup) { loops_.wake(wakeup); });
  }
  void TearDown() override {
    loops_.stop();
    core_->stop();
  }
  // A schedule whose first firing is `first`; the second one is queued behind it.
  void queue(const Json& what, const Json& first) {
    Json spec = Json::object({{"every", "1h"}, {"overlap", "queue"}});
    spec.set(first["run"].is_null() ? "start" : "run", what);
    ScheduleRow row = *create_schedule(*core_, "s", spec, false);
    row.last = first;
    row.queued = Json::array({"2024-01-01T00:02:00Z"});
    ASSERT_EQ(*store_.put_schedule(row), PutSchedule::done);
    store_.waits_for_last = true;
  }
  void expect_second(const char* kind) {
    auto last = store_.last.get_future();
    ASSERT_EQ(last.wait_for(std::chrono::seconds(60)), std::future_status::ready) << "the queued firing is lost";
    const Json started = last.get();
    EXPECT_EQ(started["at"], Json("2024-01-01T00:02:00Z"));
    EXPECT_TRUE(started[kind].is_string()) << write_json(started);
  }

  SystemClock clock_;
  MemoryStore memory_{clock_};
  OnceAwayStore store_{memory_};
  const std::unique_ptr<EngineCore> core_ = std::move(*EngineCore::open(store_, {}));
  std::latch passed_{1};
  std::once_flag first_pass_;
  Loops loops_{*core_, [this] { std::call_once(first_pass_, [this] { passed_.count_down(); }); }};
};

TEST_F(QueuedFirings, OfInstancesStartLaterIfTheStoreIsAway) {
  StartRequest first;
  first.definition = "slow";
  first.id = "s@2024-01-01T00:01:00Z";
  ASSERT_TRUE(core_->instances().start(first));
  queue(Json::object({{"definition", "slow"}}), Json::object({{"instance", first.id}}));
  loops_.start();
  passed_.wait();
  store_.away = true;
  SignalRequest go;
  go.name = "go";
  ASSERT_TRUE(core_->instances().signal({first.id}, go));
  expect_second("instance");
}

TEST_F(QueuedFirings, OfRunsStartLaterIfTheStoreIsAway) {
  RunRequest first;
  first.type = "demo.work.v1";
  first.idempotency_key = "s@2024-01-01T00:01:00Z";
  const auto submitted = core_->runs().submit(first);
  ASSERT_TRUE(submitted);
  const auto leased = store_.lease_runs({"w", {"demo."}, {}, 1, Duration::of_seconds(60)});
  ASSERT_EQ(leased->size(), 1u);
  queue(Json::object({{"type", "demo.work.v1"}}), Json::object({{"run", submitted->first.id.value}}));
  loops_.start();
  passed_.wait();
  store_.away = true;
  RunReport report;
  report.run = leased->front().id;
  report.fence = leased->front().fence;
  ASSERT_EQ(*core_->reports().report(report), RunAnswer::finished);
  expect_second("run");
}

TEST_F(QueuedFirings, OfTheLastProcessStartLaterIfTheStoreIsAway) {
  queue(Json::object({{"definition", "slow"}}), Json());
  store_.away = true;
  loops_.start();
  expect_second("instance");
}

}  // namespace
}  // namespace cairn::node
