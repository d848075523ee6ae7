#include <map>
#include <set>
#include <thread>

#include "sample.h"
#include "store/lease_holder.h"
#include "store/store_calls.h"
#include "store_under_test.h"

namespace cairn {

using Kind = CommitOutcome::Kind;
CAIRN_CONTRACT(Runs);

constexpr Duration lease = Duration::of_seconds(30);

LeaseRequest request(const std::string& worker = "w", std::size_t max = 10, std::vector<std::string> prefixes = {}) {
  return {worker, std::move(prefixes), {}, max, lease};
}
RunChange change(RunChange::Kind kind, const RunRow& run) {
  RunChange change;
  change.kind = kind;
  change.run = run.id;
  change.fence = run.fence;
  change.length = lease;
  change.actor = "w";
  return change;
}
Unit end_of(const RunRow& run, RunStatus status = RunStatus::succeeded) {
  Unit unit;
  unit.run = RunEnd{run.id, run.fence, status, Json::object({{"ok", true}}), Json(), "w"};
  if (status == RunStatus::failed) unit.run->error = Json::object({{"code", "boom"}, {"message", "it broke"}});
  return unit;
}

TEST_P(Runs, ASubmittedRunIsPending) {
  const auto [row, is_new] = must(store().submit_run(sample::run("r")));
  EXPECT_TRUE(is_new);
  EXPECT_EQ(row.status, RunStatus::pending);
  EXPECT_EQ(must(store().find_run({"r"})), row);
  EXPECT_TRUE(told().runs);
}

TEST_P(Runs, TheSameKeyGivesTheFirstRun) {
  RunRow first = sample::run("r");
  first.idempotency_key = "k";
  RunRow second = sample::run("s");
  second.idempotency_key = "k";
  must(store().submit_run(first));
  const auto [row, is_new] = must(store().submit_run(second));
  EXPECT_FALSE(is_new);
  EXPECT_EQ(row.id.value, "r");
  EXPECT_FALSE(must(store().find_run({"s"})).has_value());
}

// A client that chose the key of a call must not stop the instance, nor get its run.
TEST_P(Runs, TheKeyOfACallIsNoKeyOfAClient) {
  RunRow sent = sample::run("sent");
  sent.idempotency_key = "key-owned";
  EXPECT_TRUE(must(store().submit_run(sent)).second);
  Advance advance = sample::begin("a");
  sample::add_run(advance, "owned");
  EXPECT_EQ(commit(advance).kind, Kind::done);
  sent.id = {"again"};
  const auto [known, is_new] = must(store().submit_run(sent));
  EXPECT_FALSE(is_new);
  EXPECT_EQ(known.id.value, "sent");
  Advance other = sample::begin("b");
  sample::add_run(other, "later");
  EXPECT_EQ(commit(other).kind, Kind::done);
  RunRow late = sample::run("late");
  late.idempotency_key = "key-later";
  EXPECT_TRUE(must(store().submit_run(late)).second) << "it is not the call";
}

TEST_P(Runs, ADeletedRunKeepsItsKey) {
  RunRow first = sample::run("r");
  first.idempotency_key = "k";
  const RunRow row = must(store().submit_run(first)).first;
  RunChange removal = change(RunChange::Kind::remove, row);
  removal.reason = "tidy";
  EXPECT_EQ(must(store().change_run(removal)).kind, RunChanged::Kind::done);
  RunRow second = sample::run("s");
  second.idempotency_key = "k";
  EXPECT_FALSE(must(store().submit_run(second)).second);
}

TEST_P(Runs, ALeaseNamesItsHolderAndFence) {
  must(store().submit_run(sample::run("r")));
  const auto leased = must(store().lease_runs(request("w-1")));
  ASSERT_EQ(leased.size(), 1u);
  EXPECT_EQ(leased[0].status, RunStatus::leased);
  EXPECT_EQ(leased[0].leased_by, "w-1");
  EXPECT_GT(leased[0].fence, 0u);
  EXPECT_EQ(leased[0].attempt, 1);
  EXPECT_EQ(leased[0].lease_until, Timestamp::of_unix_ms(clock_.now().unix_ms() + 30'000));
  EXPECT_EQ(must(store().find_run({"r"})), leased[0]);
}

TEST_P(Runs, AFenceCannotBeGuessed) {
  // Known fences do not reveal others: each lease adds a random step.
  std::set<std::uint64_t> steps;
  must(store().submit_run(sample::run("r")));
  RunRow run = sample::run("r");
  run.fence = 0;
  for (int i = 0; i < 4; ++i) {
    const RunRow leased = must(store().lease_runs(request())).at(0);
    steps.insert(leased.fence - run.fence);
    run = leased;
    must(store().change_run(change(RunChange::Kind::release, run)));
  }
  EXPECT_EQ(steps.size(), 4u);
  EXPECT_LT(run.fence, std::uint64_t{1} << 53) << "a JSON number";
}

TEST_P(Runs, OnlyTheAccountThatHoldsALeaseChangesIt) {
  must(store().submit_run(sample::run("r")));
  const std::string holder = LeaseHolder{"w-1", "billing", "key:a"}.text();
  const RunRow run = must(store().lease_runs(request(holder))).at(0);
  EXPECT_EQ(run.leased_by, holder);
  for (const auto kind : {RunChange::Kind::heartbeat, RunChange::Kind::release}) {
    RunChange foreign = change(kind, run);
    foreign.account = "key:b";
    EXPECT_EQ(must(store().change_run(foreign)).kind, RunChanged::Kind::not_holder);
    EXPECT_EQ(must(store().find_run({"r"}))->lease_until, run.lease_until);
    foreign.fence = run.fence + 1;
    EXPECT_EQ(must(store().change_run(foreign)).kind, RunChanged::Kind::lease_lost);
  }
  RunChange own = change(RunChange::Kind::heartbeat, run);
  own.account = "key:a";
  EXPECT_EQ(must(store().change_run(own)).kind, RunChanged::Kind::done);
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::release, run))).kind, RunChanged::Kind::done)
      << "the engine and operators are not asked";
}

TEST_P(Runs, ALeasedRunIsNobodyElses) {
  must(store().submit_run(sample::run("r")));
  EXPECT_EQ(must(store().lease_runs(request("a"))).size(), 1u);
  EXPECT_TRUE(must(store().lease_runs(request("b"))).empty());
}

TEST_P(Runs, AnEndedLeaseCanBeTakenWithAHigherFence) {
  must(store().submit_run(sample::run("r")));
  const auto first = must(store().lease_runs(request("a")));
  clock_.advance(lease);
  const auto taken = must(store().lease_runs(request("b")));
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_GT(taken[0].fence, first.at(0).fence);
  EXPECT_EQ(taken[0].attempt, 2);
  EXPECT_EQ(taken[0].leased_by, "b");
}

TEST_P(Runs, TheLateResultOfALostLeaseIsRefused) {
  must(store().submit_run(sample::run("r")));
  const RunRow lost = must(store().lease_runs(request("a"))).at(0);
  clock_.advance(lease);
  const RunRow current = must(store().lease_runs(request("b"))).at(0);
  EXPECT_EQ(kind_of_commit(end_of(lost)), Kind::stale);
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::heartbeat, lost))).kind, RunChanged::Kind::lease_lost);
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::retry, lost))).kind, RunChanged::Kind::lease_lost);
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::release, lost))).kind, RunChanged::Kind::lease_lost);
  EXPECT_EQ(must(store().find_run({"r"})), current);
}

TEST_P(Runs, SameWorkerNameAfterARestartHoldsNothing) {
  must(store().submit_run(sample::run("r")));
  const RunRow lost = must(store().lease_runs(request("same"))).at(0);
  clock_.advance(lease);
  must(store().lease_runs(request("same")));
  EXPECT_EQ(kind_of_commit(end_of(lost)), Kind::stale);
}

TEST_P(Runs, AResultEndsTheRun) {
  must(store().submit_run(sample::run("r")));
  const RunRow run = must(store().lease_runs(request())).at(0);
  EXPECT_EQ(kind_of_commit(end_of(run)), Kind::done);
  const auto row = must(store().find_run({"r"}));
  EXPECT_EQ(row->status, RunStatus::succeeded);
  EXPECT_EQ(row->result, Json::object({{"ok", true}}));
  EXPECT_FALSE(row->lease_until);
  EXPECT_EQ(row->leased_by, "");
}

TEST_P(Runs, AFailureSaysWhy) {
  must(store().submit_run(sample::run("r")));
  const RunRow run = must(store().lease_runs(request())).at(0);
  EXPECT_EQ(kind_of_commit(end_of(run, RunStatus::failed)), Kind::done);
  const auto row = must(store().find_run({"r"}));
  EXPECT_EQ(row->status, RunStatus::failed);
  EXPECT_EQ(row->last_error, "boom: it broke");
}

TEST_P(Runs, AFinishedRunStaysFinished) {
  must(store().submit_run(sample::run("r")));
  const RunRow run = must(store().lease_runs(request())).at(0);
  commit(end_of(run));
  EXPECT_EQ(kind_of_commit(end_of(run, RunStatus::failed)), Kind::stale);
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::cancel, run))).kind, RunChanged::Kind::finished);
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::retry, run))).kind, RunChanged::Kind::finished);
  clock_.advance(lease);
  EXPECT_TRUE(must(store().lease_runs(request())).empty());
  EXPECT_EQ(must(store().find_run({"r"}))->status, RunStatus::succeeded);
}

TEST_P(Runs, AHeartbeatExtendsTheLease) {
  must(store().submit_run(sample::run("r")));
  const RunRow run = must(store().lease_runs(request("a"))).at(0);
  clock_.advance(Duration::of_seconds(20));
  const RunChanged beat = must(store().change_run(change(RunChange::Kind::heartbeat, run)));
  EXPECT_EQ(beat.kind, RunChanged::Kind::done);
  clock_.advance(Duration::of_seconds(20));
  EXPECT_TRUE(must(store().lease_runs(request("b"))).empty());
  EXPECT_EQ(kind_of_commit(end_of(run)), Kind::done);
}

TEST_P(Runs, ARetryWaitsForItsDelay) {
  must(store().submit_run(sample::run("r")));
  const RunRow run = must(store().lease_runs(request())).at(0);
  RunChange retry = change(RunChange::Kind::retry, run);
  retry.length = Duration::of_seconds(5);
  retry.error = Json::object({{"code", "busy"}});
  const RunChanged changed = must(store().change_run(retry));
  EXPECT_EQ(changed.kind, RunChanged::Kind::done);
  EXPECT_EQ(changed.row.status, RunStatus::pending);
  EXPECT_EQ(changed.row.last_error, "busy");
  EXPECT_TRUE(must(store().lease_runs(request())).empty());
  EXPECT_EQ(must(store().next_due()), Timestamp::of_unix_ms(clock_.now().unix_ms() + 5000));
  clock_.advance(Duration::of_seconds(5));
  EXPECT_EQ(must(store().lease_runs(request())).at(0).attempt, 2);
}

TEST_P(Runs, NoRetryIsLeftAfterTheLastAttempt) {
  RunRow run = sample::run("r");
  run.attempts_max = 1;
  must(store().submit_run(run));
  run = must(store().lease_runs(request())).at(0);
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::retry, run))).kind, RunChanged::Kind::exhausted);
  EXPECT_EQ(must(store().find_run({"r"}))->status, RunStatus::leased);
}

TEST_P(Runs, AHolderThatDiesCountsAsAnAttempt) {
  RunRow run = sample::run("r");
  run.attempts_max = 2;
  must(store().submit_run(run));
  for (int attempt = 1; attempt <= 2; ++attempt) {
    EXPECT_EQ(must(store().lease_runs(request())).size(), 1u);
    EXPECT_EQ(must(store().exhausted_runs(10)).size(), 0u);
    clock_.advance(lease);
  }
  EXPECT_TRUE(must(store().lease_runs(request())).empty());
  const auto exhausted = must(store().exhausted_runs(10));
  ASSERT_EQ(exhausted.size(), 1u);
  EXPECT_EQ(kind_of_commit(end_of(exhausted[0], RunStatus::failed)), Kind::done);
  EXPECT_TRUE(must(store().exhausted_runs(10)).empty());
}

TEST_P(Runs, AnAttemptThatLastsTooLongIsNobodysToLease) {
  RunRow run = sample::run("r");
  run.attempts_max = 3;
  run.timeout = Duration::of_ms(lease.ms_up() / 2);
  must(store().submit_run(run));
  const Timestamp begun = clock_.now();
  run = must(store().lease_runs(request())).at(0);
  EXPECT_EQ(must(store().next_due()), *add(begun, *run.timeout)) << "earlier than the lease's end";
  EXPECT_TRUE(must(store().exhausted_runs(10)).empty());
  RunChange beat = change(RunChange::Kind::heartbeat, run);
  beat.length = Duration::of_seconds(3600);
  EXPECT_EQ(must(store().change_run(beat)).kind, RunChanged::Kind::done);
  clock_.advance(*run.timeout);
  ASSERT_EQ(must(store().exhausted_runs(10)).size(), 1u) << "whatever its worker says";
  clock_.advance(Duration::of_seconds(7200));
  EXPECT_TRUE(must(store().lease_runs(request())).empty()) << "its retry has a delay of its own";
  EXPECT_EQ(must(store().exhausted_runs(10)).size(), 1u);
  RunChange retry = change(RunChange::Kind::retry, run);
  retry.length = Duration::of_seconds(1);
  EXPECT_EQ(must(store().change_run(retry)).kind, RunChanged::Kind::done);
  EXPECT_TRUE(must(store().exhausted_runs(10)).empty());
  clock_.advance(Duration::of_seconds(1));
  EXPECT_EQ(must(store().lease_runs(request())).size(), 1u);
  EXPECT_TRUE(must(store().exhausted_runs(10)).empty()) << "a new attempt has its own time";
}

TEST_P(Runs, TheKeyOfAChangeIsStoredOnlyWithIt) {
  for (const char* const id : {"a", "b", "c"}) must(store().submit_run(sample::run(id)));
  std::map<std::string, RunRow> leased;
  for (const RunRow& run : must(store().lease_runs(request()))) leased[run.id.value] = run;
  ASSERT_EQ(leased.size(), 3u);
  const auto keyed = [&](RunChange::Kind kind, const char* run, const char* key) {
    RunChange asked = change(kind, leased[run]);
    asked.length = Duration();
    asked.key = IdempotencyKey{"run", key, "hash", Json::object({{"outcome", key}})};
    return asked;
  };
  const auto stored = [&](const char* key) { return must(store().find_key("run", key)); };
  EXPECT_EQ(must(store().change_run(keyed(RunChange::Kind::retry, "a", "k1"))).kind, RunChanged::Kind::done);
  ASSERT_TRUE(stored("k1"));
  EXPECT_EQ(stored("k1")->answer, Json::object({{"outcome", "k1"}}));
  EXPECT_EQ(stored("k1")->request_hash, "hash");
  EXPECT_EQ(must(store().change_run(keyed(RunChange::Kind::retry, "a", "k2"))).kind, RunChanged::Kind::lease_lost);
  EXPECT_FALSE(stored("k2")) << "refused";

  const std::vector<RunChange> changes{keyed(RunChange::Kind::release, "b", "k3"),
                                       keyed(RunChange::Kind::release, "a", "k4"),
                                       keyed(RunChange::Kind::release, "c", "k5")};
  ASSERT_EQ(store().change_runs(changes).size(), 3u);
  EXPECT_TRUE(stored("k3") && stored("k5"));
  EXPECT_FALSE(stored("k4")) << "refused";

  // A key that is known stays as it is.
  clock_.advance(Duration::of_seconds(1));
  for (const RunRow& run : must(store().lease_runs(request()))) leased[run.id.value] = run;
  RunChange again = keyed(RunChange::Kind::cancel, "a", "k1");
  again.key->answer = Json("other");
  EXPECT_EQ(must(store().change_run(again)).kind, RunChanged::Kind::done);
  EXPECT_EQ(stored("k1")->answer, Json::object({{"outcome", "k1"}}));
}

TEST_P(Runs, TheKeyOfAnEndAnswersItsRepeat) {
  for (const char* const id : {"a", "b"}) must(store().submit_run(sample::run(id)));
  const auto leased = must(store().lease_runs(request()));
  ASSERT_EQ(leased.size(), 2u);
  Unit unit = end_of(leased[0]);
  unit.key = IdempotencyKey{"run", "k", "hash", Json::object({{"outcome", "finished"}})};
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  EXPECT_EQ(must(store().find_run(leased[0].id))->status, RunStatus::succeeded);
  const CommitOutcome repeat = commit(unit);
  EXPECT_EQ(repeat.kind, Kind::duplicate_key);
  EXPECT_TRUE(repeat.same_request);
  EXPECT_EQ(repeat.answer, Json::object({{"outcome", "finished"}}));
  Unit late = end_of(leased[1]);
  late.run->fence += 1;
  late.key = IdempotencyKey{"run", "late", "hash", Json::object({{"outcome", "finished"}})};
  EXPECT_EQ(kind_of_commit(late), Kind::stale);
  EXPECT_FALSE(must(store().find_key("run", "late")));
}

TEST_P(Runs, AReleasedRunDoesNotCountAsAnAttempt) {
  RunRow run = sample::run("r");
  run.attempts_max = 1;
  must(store().submit_run(run));
  run = must(store().lease_runs(request())).at(0);
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::release, run))).kind, RunChanged::Kind::done);
  const auto again = must(store().lease_runs(request()));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].attempt, 1);
  EXPECT_EQ(again[0].leases, 2);
  EXPECT_GT(again[0].fence, run.fence);
}

TEST_P(Runs, SeveralChangesAreAnsweredEachOnItsOwn) {
  for (const char* const id : {"a", "b", "c"}) must(store().submit_run(sample::run(id)));
  std::map<std::string, RunRow> leased;
  for (const RunRow& run : must(store().lease_runs(request()))) leased[run.id.value] = run;
  ASSERT_EQ(leased.size(), 3u);
  RunChange kept = change(RunChange::Kind::heartbeat, leased["a"]);
  kept.length = Duration::of_seconds(3600);
  RunChange late = change(RunChange::Kind::release, leased["c"]);
  late.fence = 99;
  RunChange unknown = kept;
  unknown.run = {"unknown"};
  const std::vector<RunChange> changes{kept, change(RunChange::Kind::release, leased["b"]), late, unknown};
  const auto answers = store().change_runs(changes);
  ASSERT_EQ(answers.size(), 4u);
  using Changed = RunChanged::Kind;
  const Changed expected[] = {Changed::done, Changed::done, Changed::lease_lost, Changed::not_found};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i].has_value()) << answers[i].error().message;
    EXPECT_EQ(answers[i]->kind, expected[i]) << i;
    if (answers[i]->kind == Changed::not_found) continue;
    const RunRow stored = *must(store().find_run(changes[i].run));
    const RunRow& row = answers[i]->row;
    EXPECT_EQ(row.status, stored.status) << i;
    EXPECT_EQ(row.attempt, stored.attempt) << i;
    EXPECT_EQ(row.fence, stored.fence) << i;
    EXPECT_EQ(row.lease_until, stored.lease_until) << i;
    EXPECT_EQ(row.leased_by, stored.leased_by) << i;
    EXPECT_EQ(row.updated_at, stored.updated_at) << i;
  }
  clock_.advance(lease);
  std::string again;
  for (const RunRow& run : must(store().lease_runs(request()))) again += run.id.value + " ";
  EXPECT_EQ(again.size(), 4u) << again << "b was released, the lease of c has ended, a is kept";
  EXPECT_EQ(must(store().find_run({"a"}))->leases, 1);
}

TEST_P(Runs, SeveralChangesOfOneRunAreAppliedInTheirOrder) {
  must(store().submit_run(sample::run("r")));
  const RunRow run = must(store().lease_runs(request())).at(0);
  const std::vector<RunChange> changes{change(RunChange::Kind::heartbeat, run), change(RunChange::Kind::release, run),
                                       change(RunChange::Kind::heartbeat, run)};
  const auto answers = store().change_runs(changes);
  ASSERT_EQ(answers.size(), 3u);
  using Changed = RunChanged::Kind;
  const Changed expected[] = {Changed::done, Changed::done, Changed::lease_lost};
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(must(answers[i]).kind, expected[i]) << i;
  EXPECT_EQ(must(store().find_run({"r"}))->status, RunStatus::pending);
}

TEST_P(Runs, TheHolderOfACancelledRunLearnsOfItAmongOtherHeartbeats) {
  for (const char* const id : {"a", "b"}) must(store().submit_run(sample::run(id)));
  std::vector<RunChange> beats;
  for (const RunRow& run : must(store().lease_runs(request()))) {
    beats.push_back(change(RunChange::Kind::heartbeat, run));
  }
  ASSERT_EQ(beats.size(), 2u);
  RunChange cancel = beats[0];
  cancel.kind = RunChange::Kind::cancel;
  EXPECT_EQ(must(store().change_run(cancel)).kind, RunChanged::Kind::done);
  const auto answers = store().change_runs(beats);
  EXPECT_EQ(must(answers[0]).kind, RunChanged::Kind::finished);
  EXPECT_EQ(must(answers[0]).row.status, RunStatus::cancelled);
  EXPECT_EQ(must(answers[1]).kind, RunChanged::Kind::done);
  EXPECT_EQ(must(store().find_run(beats[0].run))->leased_by, "") << "its lease is cleared";
}

TEST_P(Runs, ACancelledRunStaysCancelledWhateverItsHolderWrites) {
  must(store().submit_run(sample::run("r")));
  const RunRow run = must(store().lease_runs(request())).at(0);
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::cancel, run))).kind, RunChanged::Kind::done);
  EXPECT_EQ(kind_of_commit(end_of(run)), Kind::stale);
  const RunChanged beat = must(store().change_run(change(RunChange::Kind::heartbeat, run)));
  EXPECT_EQ(beat.kind, RunChanged::Kind::finished);
  EXPECT_EQ(beat.row.status, RunStatus::cancelled);
  EXPECT_EQ(must(store().find_run({"r"}))->leased_by, "");
}

TEST_P(Runs, HigherPriorityThenEarlierComesFirst) {
  RunRow low = sample::run("low");
  RunRow high = sample::run("high");
  high.priority = 5;
  RunRow later = sample::run("later");
  must(store().submit_run(low));
  must(store().submit_run(high));
  clock_.advance(Duration::of_ms(5));
  must(store().submit_run(later));
  const auto leased = must(store().lease_runs(request()));
  ASSERT_EQ(leased.size(), 3u);
  EXPECT_EQ(leased[0].id.value, "high");
  EXPECT_EQ(leased[1].id.value, "low");
  EXPECT_EQ(leased[2].id.value, "later");
}

TEST_P(Runs, OnlyTheTypesAskedFor) {
  must(store().submit_run(sample::run("a", "billing.charge.v1")));
  must(store().submit_run(sample::run("b", "default.x")));
  must(store().submit_run(sample::run("c", "bill")));
  EXPECT_EQ(must(store().lease_runs(request("w", 10, {"billing."}))).at(0).id.value, "a");
  const auto rest = must(store().lease_runs(request("w", 10)));
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].id.value, "b");
}

TEST_P(Runs, ExactTypesAreNoPrefixes) {
  must(store().submit_run(sample::run("a", "billing.v1")));
  must(store().submit_run(sample::run("b", "billing.v10")));
  LeaseRequest exact = request();
  exact.types = {"billing.v1"};
  const auto leased = must(store().lease_runs(exact));
  ASSERT_EQ(leased.size(), 1u);
  EXPECT_EQ(leased[0].id.value, "a");
}

TEST_P(Runs, ARunInTheFutureWaits) {
  RunRow run = sample::run("r");
  run.run_at = Timestamp::of_unix_ms(clock_.now().unix_ms() + 1000);
  must(store().submit_run(run));
  EXPECT_TRUE(must(store().lease_runs(request())).empty());
  EXPECT_EQ(must(store().next_due()), run.run_at);
  clock_.advance(Duration::of_seconds(1));
  EXPECT_EQ(must(store().lease_runs(request())).size(), 1u);
}

TEST_P(Runs, APendingRunThatNobodyTakesIsNotDueAgainAndAgain) {
  must(store().submit_run(sample::run("r")));
  EXPECT_EQ(must(store().next_due()), std::nullopt);
}

TEST_P(Runs, TheEndOfALeaseIsDue) {
  must(store().submit_run(sample::run("r")));
  must(store().lease_runs(request()));
  EXPECT_EQ(must(store().next_due()), Timestamp::of_unix_ms(clock_.now().unix_ms() + 30'000));
}

TEST_P(Runs, ADeletedRunIsNotLeased) {
  const RunRow run = must(store().submit_run(sample::run("r"))).first;
  must(store().change_run(change(RunChange::Kind::remove, run)));
  EXPECT_TRUE(must(store().lease_runs(request())).empty());
  EXPECT_TRUE(must(store().list_runs({}, {})).items.empty());
  RunFilter all;
  all.deleted = true;
  EXPECT_EQ(must(store().list_runs(all, {})).items.size(), 1u);
}

TEST_P(Runs, ARunThatAnInstanceWaitsForIsNotDeletedBeforeItHasEnded) {
  Advance advance = sample::begin("i");
  sample::add_run(advance, "r");
  commit(advance);
  const RunRow run = *must(store().find_run({"r"}));
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::remove, run))).kind, RunChanged::Kind::awaited);
  EXPECT_FALSE(must(store().find_run({"r"}))->deleted_at);
  EXPECT_EQ(must(store().lease_runs(request())).size(), 1u) << "somebody can still finish it";
  must(store().change_run(change(RunChange::Kind::cancel, run)));
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::remove, run))).kind, RunChanged::Kind::done);
}

TEST_P(Runs, ALeasedRunCanBeDeletedAndIsNotLeasedAgain) {
  for (const char* id : {"ends", "expires", "retries"}) must(store().submit_run(sample::run(id)));
  const std::vector<RunRow> runs = must(store().lease_runs(request()));
  ASSERT_EQ(runs.size(), 3u);
  for (const RunRow& run : runs) {
    EXPECT_EQ(must(store().change_run(change(RunChange::Kind::remove, run))).kind, RunChanged::Kind::done);
    const RunRow deleted = *must(store().find_run(run.id));
    EXPECT_TRUE(deleted.deleted_at);
    EXPECT_EQ(deleted.status, RunStatus::leased);
    // Its worker may still report.
    if (run.id.value == "retries") {
      EXPECT_EQ(must(store().change_run(change(RunChange::Kind::retry, run))).kind, RunChanged::Kind::done);
    }
    if (run.id.value == "ends") {
      EXPECT_EQ(commit(end_of(run)).kind, Kind::done);
    }
  }
  for (int look = 0; look < 5; ++look) {
    clock_.advance(Duration::of_seconds(3600));
    EXPECT_TRUE(must(store().lease_runs(request())).empty());
    EXPECT_TRUE(must(store().exhausted_runs(10)).empty());
  }
  EXPECT_EQ(must(store().find_run({"ends"}))->status, RunStatus::succeeded);
  EXPECT_TRUE(must(store().queue_faults(10)).empty());
  EXPECT_EQ(must(store().find_run({"retries"}))->status, RunStatus::pending);
}

TEST_P(Runs, ARunThatAnInstanceWaitsForIsNotDeleted) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, "r");
  commit(advance);
  const RunRow run = *must(store().find_run({"r"}));
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::remove, run))).kind, RunChanged::Kind::awaited);
  EXPECT_FALSE(must(store().find_run({"r"}))->deleted_at);
  EXPECT_EQ(must(store().lease_runs(request())).size(), 1u);
}

// The clock moves between a look and the question for the next look.
TEST_P(Runs, WhatFellDueSinceTheLastLookIsDueNext) {
  const Timestamp looked_at = clock_.now();
  RunRow run = sample::run("r");
  run.run_at = Timestamp::of_unix_ms(looked_at.unix_ms() + 5);
  must(store().submit_run(run));
  clock_.advance(Duration::of_ms(10));
  EXPECT_EQ(must(store().next_due(looked_at)), run.run_at);
  EXPECT_EQ(must(store().next_due(clock_.now())), std::nullopt);
  must(store().lease_runs(request()));
  const Timestamp ends = *must(store().find_run({"r"}))->lease_until;
  clock_.set(Timestamp::of_unix_ms(ends.unix_ms() + 10));
  EXPECT_EQ(must(store().next_due(Timestamp::of_unix_ms(ends.unix_ms() - 1))), ends);
}

// Threads that answer commits or pass on wake-ups must not call the store.
TEST_P(Runs, AForbiddenCallEndsTheProcess) {
  if (GetParam() == BackEnd::sqlite_reopened || GetParam() == BackEnd::postgres_reopened) GTEST_SKIP() << "the same";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Store& forbidden = store();
  const auto dies = [](const auto& call) {
    EXPECT_DEATH(
        {
          const StoreCallsForbidden here;
          call();
        },
        "StoreCallsForbidden");
  };
  dies([&] { static_cast<void>(forbidden.find_run({"r"})); });
  dies([&] { static_cast<void>(forbidden.submit_run(sample::run("r"))); });
  Unit unit;
  unit.key = IdempotencyKey{"test", "k", "hash", Json()};
  dies([&] { static_cast<void>(forbidden.commit({&unit, 1})); });
  dies([&] { static_cast<void>(forbidden.take_timers(1, Duration::of_seconds(1))); });
}

TEST_P(Runs, AnUnknownRunIsNotFound) {
  EXPECT_EQ(must(store().change_run(change(RunChange::Kind::cancel, sample::run("r")))).kind,
            RunChanged::Kind::not_found);
  EXPECT_FALSE(must(store().find_run({"r"})).has_value());
}

TEST_P(Runs, AnIntentIsARunOfItsInstance) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, "r");
  commit(advance);
  const auto row = must(store().find_run({"r"}));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->instance, InstanceId{"a"});
  EXPECT_EQ(row->token.value, "token-r");
  EXPECT_EQ(row->idempotency_key, "key-r");
  EXPECT_EQ(row->status, RunStatus::pending);
  EXPECT_EQ(row->payload, Json::object({{"x", 1}}));
}

TEST_P(Runs, AnIntentMayBeginLeasedToTheCommittingNode) {
  Unit unit;
  unit.advances = {sample::begin("a")};
  sample::add_run(unit.advances[0], "mine", "cairn.http.v1");
  sample::add_run(unit.advances[0], "theirs", "billing.v1");
  unit.lease = RunLease{"node-1", lease, {"cairn.http.v1"}};
  const CommitOutcome outcome = commit(unit);
  ASSERT_EQ(outcome.leased.size(), 1u);
  EXPECT_EQ(outcome.leased[0].id.value, "mine");
  EXPECT_EQ(must(store().find_run({"mine"})), outcome.leased[0]);
  EXPECT_EQ(must(store().find_run({"mine"}))->leased_by, "node-1");
  EXPECT_EQ(must(store().find_run({"theirs"}))->status, RunStatus::pending);
  const auto told = must(store().run_events({"mine"}));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0], (RunEvent{{"mine"}, "created", told[0].at, 0, "", Json()}));
  EXPECT_EQ(told[1], (RunEvent{{"mine"}, "leased", told[0].at, 1, "node-1", Json()}));
}

TEST_P(Runs, AnIntentThatItsOwnUnitCancelsIsNobodysToWorkOn) {
  Unit unit;
  unit.advances = {sample::begin("a")};
  sample::add_run(unit.advances[0], "mine", "cairn.http.v1");
  unit.advances.push_back(sample::next(unit.advances[0].after));
  unit.advances[1].runs_cancelled = {{"mine"}};
  unit.lease = RunLease{"node-1", lease, {"cairn.http.v1"}};
  EXPECT_TRUE(commit(unit).leased.empty());
  EXPECT_EQ(must(store().find_run({"mine"}))->status, RunStatus::cancelled);
}

TEST_P(Runs, TheEndAndTheAdvanceItCausesAreOne) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, "r");
  commit(advance);
  const RunRow run = must(store().lease_runs(request())).at(0);
  commit(sample::next(advance.after));
  Unit unit = end_of(run);
  unit.advances = {sample::next(advance.after)};
  EXPECT_EQ(kind_of_commit(unit), Kind::stale);
  EXPECT_EQ(must(store().find_run({"r"}))->status, RunStatus::leased);
}

TEST_P(Runs, AnInstanceCancelsItsRuns) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, "r");
  commit(advance);
  const RunRow run = must(store().lease_runs(request())).at(0);
  Advance second = sample::next(advance.after);
  second.runs_cancelled = {{"r"}};
  commit(second);
  EXPECT_EQ(must(store().find_run({"r"}))->status, RunStatus::cancelled);
  EXPECT_EQ(kind_of_commit(end_of(run)), Kind::stale);
}

TEST_P(Runs, CancellingAFinishedRunChangesNothing) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, "r");
  commit(advance);
  commit(end_of(must(store().lease_runs(request())).at(0)));
  Advance second = sample::next(advance.after);
  second.runs_cancelled = {{"r"}};
  EXPECT_EQ(commit(second).kind, Kind::done);
  EXPECT_EQ(must(store().find_run({"r"}))->status, RunStatus::succeeded);
}

TEST_P(Runs, EventsTellTheStory) {
  must(store().submit_run(sample::run("r")));
  RunRow run = must(store().lease_runs(request("w1"))).at(0);
  RunChange retry = change(RunChange::Kind::retry, run);
  retry.length = Duration::of_seconds(0);
  must(store().change_run(retry));
  run = must(store().lease_runs(request("w2"))).at(0);
  commit(end_of(run));
  must(store().submit_run(sample::run("f")));
  commit(end_of(must(store().lease_runs(request())).at(0), RunStatus::failed));
  must(store().submit_run(sample::run("c")));
  must(store().change_run(change(RunChange::Kind::cancel, must(store().lease_runs(request())).at(0))));
  const auto kinds = [&](const char* id) {
    std::vector<std::string> kinds;
    for (const RunEvent& event : must(store().run_events({id}))) kinds.push_back(event.kind);
    return kinds;
  };
  EXPECT_EQ(kinds("r"), (std::vector<std::string>{"created", "leased", "retried", "leased", "succeeded"}));
  EXPECT_EQ(kinds("f"), (std::vector<std::string>{"created", "leased", "failed"}));
  EXPECT_EQ(kinds("c"), (std::vector<std::string>{"created", "leased", "cancelled"}));
}

TEST_P(Runs, EventsAreListedByPage) {
  must(store().submit_run(sample::run("r")));
  for (int i = 0; i < 2; ++i) {
    RunChange retry = change(RunChange::Kind::retry, must(store().lease_runs(request())).at(0));
    retry.length = Duration::of_seconds(0);
    must(store().change_run(retry));
  }
  const auto all = must(store().run_events({"r"}));
  ASSERT_EQ(all.size(), 5u);
  std::vector<RunEvent> paged;
  for (std::string cursor;;) {
    const auto page = must(store().list_run_events({"r"}, {2, cursor}));
    EXPECT_LE(page.items.size(), 2u);
    paged.insert(paged.end(), page.items.begin(), page.items.end());
    cursor = page.next_cursor;
    if (cursor.empty()) break;
  }
  EXPECT_EQ(paged, all);
  EXPECT_FALSE(store().list_run_events({"r"}, {2, "x"}).has_value());
}

TEST_P(Runs, AreListedNewestFirstByFilterAndPage) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, "mine", "billing.v1");
  commit(advance);
  for (int i = 0; i < 5; ++i) must(store().submit_run(sample::run("r" + std::to_string(i))));
  auto page = must(store().list_runs({}, {4, ""}));
  ASSERT_EQ(page.items.size(), 4u);
  EXPECT_EQ(page.items[0].id.value, "r4");
  page = must(store().list_runs({}, {4, page.next_cursor}));
  ASSERT_EQ(page.items.size(), 2u);
  EXPECT_EQ(page.items[1].id.value, "mine");
  EXPECT_TRUE(page.next_cursor.empty());
  RunFilter filter;
  filter.instance = InstanceId{"a"};
  EXPECT_EQ(must(store().list_runs(filter, {})).items.size(), 1u);
  filter = {};
  filter.type_prefix = "billing.";
  EXPECT_EQ(must(store().list_runs(filter, {})).items.size(), 1u);
  filter = {};
  filter.status = RunStatus::leased;
  EXPECT_TRUE(must(store().list_runs(filter, {})).items.empty());
}

TEST_P(Runs, ManyWorkersNeverShareOne) {
  if (forgets_marks()) GTEST_SKIP() << "opens the store before each call";
  Store& shared = store();
  for (int i = 0; i < 40; ++i) must(shared.submit_run(sample::run("r" + std::to_string(i))));
  std::mutex mutex;
  std::multiset<std::string> seen;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (;;) {
          const auto leased = shared.lease_runs(request("w" + std::to_string(i), 3));
          if (!leased || leased->empty()) return;
          const std::lock_guard lock(mutex);
          for (const RunRow& run : *leased) seen.insert(run.id.value);
        }
      });
    }
  }
  EXPECT_EQ(seen.size(), 40u);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 40u);
}

TEST_P(Runs, OfARetriedCallHaveTheSameKey) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, "r1");
  commit(advance);
  Advance again = sample::next(advance.after);
  sample::close_wait(again, "token-r1");
  again.runs_cancelled = {{"r1"}};
  sample::add_run(again, "r2");
  again.runs.back().idempotency_key = "key-r1";
  commit(again);
  EXPECT_EQ(must(store().find_run({"r1"}))->idempotency_key, "key-r1");
  EXPECT_EQ(must(store().find_run({"r2"}))->idempotency_key, "key-r1");
}

}  // namespace cairn
