#include "sample.h"
#include "store/projection.h"
#include "store_under_test.h"

namespace cairn {

CAIRN_CONTRACT(RunTypes);

namespace {

constexpr Duration lease_length = Duration::of_seconds(30);
constexpr const char* type = "default.echo";

LeaseRequest lease_request(std::size_t max = 10, std::vector<std::string> prefixes = {}) {
  return {"w", std::move(prefixes), {}, max, lease_length};
}
RunTypeRow rule() {
  RunTypeRow row;
  row.type = type;
  return row;
}
RunRow keyed(const std::string& id, const std::string& key) {
  RunRow row = sample::run(id, type);
  row.limit_key = key;
  return row;
}
Unit success_of(const RunRow& run) {
  Unit unit;
  unit.run = RunEnd{run.id, run.fence, RunStatus::succeeded, Json(1), Json(), "w"};
  return unit;
}
std::vector<std::string> ids(const std::vector<RunRow>& rows) {
  std::vector<std::string> list;
  for (const RunRow& row : rows) list.push_back(row.id.value);
  return list;
}
using Ids = std::vector<std::string>;

}  // namespace

TEST_P(RunTypes, AreKeptAsPut) {
  RunTypeRow row = rule();
  row.lease = Duration::of_seconds(5);
  row.attempts_max = 7;
  row.backoff = Duration::of_ms(250);
  row.cap = Duration::of_seconds(60);
  row.paused = true;
  row.concurrency = 3;
  row.rate = 10;
  row.rate_window = Duration::of_seconds(60);
  row.limit_key = "payload.customer";
  must(store().put_run_type(row));
  ASSERT_EQ(must(store().list_run_types()).size(), 1u);
  EXPECT_EQ(must(store().list_run_types())[0], row);
  must(store().put_run_type(rule()));
  EXPECT_EQ(must(store().list_run_types())[0], rule());
  EXPECT_TRUE(must(store().remove_run_type(type)));
  EXPECT_FALSE(must(store().remove_run_type(type)));
  EXPECT_TRUE(must(store().list_run_types()).empty());
}

TEST_P(RunTypes, APausedTypeIsNotLeasedUntilItIsResumed) {
  must(store().submit_run(sample::run("r", type)));
  must(store().submit_run(sample::run("other", "default.other")));
  RunTypeRow row = rule();
  row.paused = true;
  must(store().put_run_type(row));
  EXPECT_EQ(ids(must(store().lease_runs(lease_request()))), Ids{"other"});
  forget_told();
  must(store().put_run_type(rule()));
  EXPECT_TRUE(told().runs);
  EXPECT_EQ(ids(must(store().lease_runs(lease_request()))), Ids{"r"});
}

TEST_P(RunTypes, APausedTypeDoesNotBeginLeasedEither) {
  RunTypeRow row = rule();
  row.paused = true;
  must(store().put_run_type(row));
  Unit unit;
  unit.advances = {sample::begin("a")};
  sample::add_run(unit.advances[0], "r", type);
  unit.lease = RunLease{"node", lease_length, {type}};
  EXPECT_TRUE(commit(unit).leased.empty());
  EXPECT_EQ(must(store().find_run({"r"}))->status, RunStatus::pending);
}

TEST_P(RunTypes, OverrideLeaseAttemptsAndBackoff) {
  RunTypeRow row = rule();
  row.lease = Duration::of_seconds(5);
  row.attempts_max = 9;
  row.backoff = Duration::of_ms(250);
  row.cap = Duration::of_seconds(60);
  must(store().put_run_type(row));
  must(store().submit_run(sample::run("r", type)));
  const RunRow run = must(store().lease_runs(lease_request())).at(0);
  EXPECT_EQ(run.lease_until, Timestamp::of_unix_ms(clock_.now().unix_ms() + 5000));
  EXPECT_EQ(run.attempts_max, 9);
  EXPECT_EQ(run.backoff, Duration::of_ms(250));
  EXPECT_EQ(run.cap, Duration::of_seconds(60));
  EXPECT_EQ(must(store().find_run({"r"})), run);
}

TEST_P(RunTypes, FewerAttemptsThanWereMadeStillAllowTheOneThatIsLeased) {
  must(store().submit_run(sample::run("r", type)));
  must(store().lease_runs(lease_request()));
  clock_.advance(lease_length);
  RunTypeRow row = rule();
  row.attempts_max = 1;
  must(store().put_run_type(row));
  const auto again = must(store().lease_runs(lease_request()));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].attempts_max, 2);
  clock_.advance(lease_length);
  EXPECT_TRUE(must(store().lease_runs(lease_request())).empty());
  EXPECT_EQ(must(store().exhausted_runs(10)).size(), 1u);
}

TEST_P(RunTypes, ConcurrencyIsLiveLeasesAndNothingElse) {
  RunTypeRow row = rule();
  row.concurrency = 2;
  must(store().put_run_type(row));
  for (int i = 0; i < 5; ++i) must(store().submit_run(sample::run("r" + std::to_string(i), type)));
  const auto first = must(store().lease_runs(lease_request()));
  ASSERT_EQ(ids(first), (Ids{"r0", "r1"}));
  EXPECT_TRUE(must(store().lease_runs(lease_request())).empty());

  forget_told();
  commit(success_of(first[0]));
  EXPECT_TRUE(told().runs);  // a slot is free
  EXPECT_EQ(ids(must(store().lease_runs(lease_request()))), Ids{"r2"});

  // Holders that died hold nothing.
  clock_.advance(lease_length);
  EXPECT_EQ(ids(must(store().lease_runs(lease_request()))), (Ids{"r1", "r2"}));
}

TEST_P(RunTypes, ACancelledRunFreesItsSlot) {
  RunTypeRow row = rule();
  row.concurrency = 1;
  must(store().put_run_type(row));
  must(store().submit_run(sample::run("a", type)));
  must(store().submit_run(sample::run("b", type)));
  const RunRow held = must(store().lease_runs(lease_request())).at(0);
  forget_told();
  RunChange cancel;
  cancel.kind = RunChange::Kind::cancel;
  cancel.run = held.id;
  must(store().change_run(cancel));
  EXPECT_TRUE(told().runs);
  EXPECT_EQ(ids(must(store().lease_runs(lease_request()))), Ids{"b"});
}

TEST_P(RunTypes, EachKeyHasItsOwnSlots) {
  RunTypeRow row = rule();
  row.concurrency = 1;
  row.limit_key = "payload.customer";
  must(store().put_run_type(row));
  for (int i = 0; i < 20; ++i) must(store().submit_run(keyed("a" + std::to_string(i), "a")));
  must(store().submit_run(keyed("b", "b")));
  must(store().submit_run(keyed("none", "")));
  // Twenty of one key do not hide the others.
  auto leased = ids(must(store().lease_runs(lease_request(3))));
  std::sort(leased.begin(), leased.end());
  EXPECT_EQ(leased, (Ids{"a0", "b", "none"}));
  EXPECT_TRUE(must(store().lease_runs(lease_request())).empty());
}

TEST_P(RunTypes, ARateIsKeptInEveryWindow) {
  RunTypeRow row = rule();
  row.rate = 2;
  row.rate_window = Duration::of_seconds(10);
  must(store().put_run_type(row));
  for (int i = 0; i < 5; ++i) must(store().submit_run(sample::run("r" + std::to_string(i), type)));
  EXPECT_EQ(ids(must(store().lease_runs(lease_request(1)))), Ids{"r0"});
  clock_.advance(Duration::of_seconds(4));
  EXPECT_EQ(ids(must(store().lease_runs(lease_request()))), Ids{"r1"});
  forget_told();
  EXPECT_TRUE(must(store().lease_runs(lease_request())).empty());
  // The window must wake a look when it opens, although nothing else happens then.
  EXPECT_EQ(told().due, Timestamp::of_unix_ms(clock_.now().unix_ms() + 6000));
  clock_.advance(Duration::of_seconds(6));
  EXPECT_EQ(ids(must(store().lease_runs(lease_request()))), Ids{"r2"});
  EXPECT_TRUE(must(store().lease_runs(lease_request())).empty());
}

TEST_P(RunTypes, ARateCountsByKey) {
  RunTypeRow row = rule();
  row.rate = 1;
  row.rate_window = Duration::of_seconds(10);
  must(store().put_run_type(row));
  must(store().submit_run(keyed("a1", "a")));
  must(store().submit_run(keyed("a2", "a")));
  must(store().submit_run(keyed("b1", "b")));
  EXPECT_EQ(ids(must(store().lease_runs(lease_request()))), (Ids{"a1", "b1"}));
}

TEST_P(RunTypes, TheKeyOfAnIntentComesWithItsUnit) {
  Unit unit;
  unit.advances = {sample::begin("a")};
  sample::add_run(unit.advances[0], "r", type);
  unit.limit_keys = {{RunId{"r"}, "customer-7"}};
  commit(unit);
  EXPECT_EQ(must(store().find_run({"r"}))->limit_key, "customer-7");
}

TEST_P(RunTypes, PrefixesTakeTurns) {
  for (int i = 0; i < 10; ++i) must(store().submit_run(sample::run("a" + std::to_string(i), "a.flood")));
  clock_.advance(Duration::of_seconds(1));
  for (int i = 0; i < 2; ++i) must(store().submit_run(sample::run("b" + std::to_string(i), "b.drop")));
  EXPECT_EQ(ids(must(store().lease_runs(lease_request(5, {"a.", "b."})))), (Ids{"a0", "b0", "a1", "b1", "a2"}));
}

TEST_P(RunTypes, PriorityComesBeforeTurns) {
  for (int i = 0; i < 3; ++i) must(store().submit_run(sample::run("a" + std::to_string(i), "a.x")));
  RunRow urgent = sample::run("u", "a.y");
  urgent.priority = 1;
  must(store().submit_run(urgent));
  must(store().submit_run(sample::run("b0", "b.x")));
  EXPECT_EQ(ids(must(store().lease_runs(lease_request(3, {"a.", "b."})))), (Ids{"u", "a0", "b0"}));
}

TEST_P(RunTypes, ManyPrioritiesAndLaterOnesAmongThem) {
  for (int i = 0; i < 8; ++i) {
    RunRow row = sample::run("r" + std::to_string(i), type);
    row.priority = i - 4;
    if (i % 2 == 1) row.run_at = Timestamp::of_unix_ms(clock_.now().unix_ms() + 1000);
    must(store().submit_run(row));
  }
  EXPECT_EQ(ids(must(store().lease_runs(lease_request(3)))), (Ids{"r6", "r4", "r2"}));
  clock_.advance(Duration::of_seconds(1));
  EXPECT_EQ(ids(must(store().lease_runs(lease_request(3)))), (Ids{"r7", "r5", "r3"}));
  EXPECT_EQ(ids(must(store().lease_runs(lease_request(3)))), (Ids{"r1", "r0"}));
}

TEST_P(RunTypes, ManyAreSubmittedInOneTransaction) {
  RunRow first = sample::run("a");
  first.idempotency_key = "k";
  RunRow again = sample::run("b");
  again.idempotency_key = "k";
  std::vector<RunRow> runs = {first, again, sample::run("c")};
  EXPECT_EQ(must(store().submit_runs(runs)), (std::vector{true, false, true}));
  EXPECT_EQ(ids(runs), (Ids{"a", "a", "c"}));
  EXPECT_EQ(runs[1], runs[0]);
  EXPECT_EQ(must(store().list_runs({}, {})).items.size(), 2u);
  EXPECT_TRUE(must(store().submit_runs({})).empty());
}

// A store may write runs of one kind in another way than a mixed batch: neither loses anything.
TEST_P(RunTypes, ABatchKeepsWhateverItsRunsSay) {
  const auto batch = [this](std::size_t count) {
    const auto ids = new_uuids(store().now(), count);
    std::vector<RunRow> runs;
    for (const std::string& id : ids) {
      RunRow run = sample::run(id, type);
      run.payload = Json::object({{"i", static_cast<std::int64_t>(runs.size())}});
      run.priority = 7;
      run.attempts_max = 5;
      run.run_at = after(store().now(), Duration::of_seconds(60));
      run.backoff = Duration::of_ms(250);
      run.factor = 1.5;
      run.cap = Duration::of_seconds(9);
      run.jitter = 0.25;
      run.timeout = Duration::of_seconds(3);
      run.limit_key = "tenant";
      runs.push_back(run);
    }
    return runs;
  };
  std::vector<RunRow> alike = batch(600), mixed = batch(5);
  alike[0].payload = Json();
  mixed[1].priority = 1;
  mixed[2].timeout.reset();
  mixed[3].run_at = store().now();
  mixed[4].limit_key.clear();
  for (const auto& runs : {alike, mixed}) {
    std::vector<RunRow> submitted = runs;
    EXPECT_EQ(must(store().submit_runs(submitted)), std::vector<bool>(runs.size(), true));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      RunRow expected = runs[i];
      expected.created_at = expected.updated_at = submitted[i].created_at;
      EXPECT_EQ(submitted[i], expected);
      EXPECT_EQ(*must(store().find_run(runs[i].id)), expected);
      EXPECT_EQ(must(store().run_events(runs[i].id)).size(), 1u);
    }
  }
  EXPECT_EQ(ids(must(store().lease_runs(lease_request(3)))), (Ids{mixed[3].id.value}));
  clock_.advance(Duration::of_seconds(60));
  const auto leased = must(store().lease_runs(lease_request(1000)));
  EXPECT_EQ(leased.size(), 604u);
  EXPECT_EQ(leased.back().id, mixed[1].id);
}

}  // namespace cairn
