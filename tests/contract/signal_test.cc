#include "sample.h"
#include "store_under_test.h"

namespace cairn {

using Kind = CommitOutcome::Kind;
CAIRN_CONTRACT(Signals);

constexpr Duration signal_hold = Duration::of_seconds(30);

Advance waiting(const std::string& id, const std::string& name, Json key = {}) {
  Advance advance = sample::begin(id);
  sample::add_signal_wait(advance, "w-" + id, name, std::move(key));
  return advance;
}

TEST_P(Signals, GoToEveryInstanceThatWaitsForNameAndKey) {
  commit(waiting("a", "paid", Json("42")));
  commit(waiting("b", "paid", Json("42")));
  commit(waiting("c", "paid", Json("43")));
  commit(waiting("d", "shipped", Json("42")));
  const SignalOutcome outcome = must(store().record_signal(sample::signal("s", "paid", Json("42"))));
  EXPECT_EQ(outcome.delivered, (std::vector<InstanceId>{{"a"}, {"b"}}));
  EXPECT_FALSE(outcome.kept);
  const auto messages = must(store().take_messages(10, signal_hold));
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].target.value, "a");
  EXPECT_EQ(messages[0].kind, Message::Kind::signal);
  EXPECT_EQ(messages[0].body["name"], Json("paid"));
  EXPECT_EQ(messages[0].body["payload"], Json::object({{"from", "s"}}));
  EXPECT_TRUE(told().messages);
}

TEST_P(Signals, AWaitWithoutAKeyTakesEveryKey) {
  commit(waiting("a", "paid"));
  EXPECT_EQ(must(store().record_signal(sample::signal("s", "paid", Json("1")))).delivered.size(), 1u);
  EXPECT_EQ(must(store().record_signal(sample::signal("t", "paid"))).delivered.size(), 1u);
}

TEST_P(Signals, AWaitWithAKeyDoesNotTakeASignalWithoutOne) {
  commit(waiting("a", "paid", Json("1")));
  EXPECT_TRUE(must(store().record_signal(sample::signal("s", "paid"))).kept);
}

TEST_P(Signals, AnInstanceWithTwoFittingWaitsGetsItOnce) {
  Advance advance = waiting("a", "paid");
  sample::add_signal_wait(advance, "second", "paid", Json("1"));
  commit(advance);
  EXPECT_EQ(must(store().record_signal(sample::signal("s", "paid", Json("1")))).delivered.size(), 1u);
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u);
}

TEST_P(Signals, WithoutATimeToLiveAreKeptForEver) {
  CorrelatedSignal signal = sample::signal("s", "paid", Json("42"));
  signal.ttl.reset();
  EXPECT_TRUE(must(store().record_signal(signal)).kept);
  clock_.advance(Duration::of_seconds(3650LL * 86'400));
  EXPECT_EQ(must(store().expire_signals(10)), 0u);
  commit(waiting("a", "paid", Json("42")));
  const auto messages = must(store().list_messages({"a"}));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].body["id"], Json("s"));
  EXPECT_TRUE(must(store().list_signals({}, {})).items.empty());
}

TEST_P(Signals, BecomeDeadLettersWhenTheirTimeIsOver) {
  CorrelatedSignal signal = sample::signal("s", "paid", Json("42"));
  signal.ttl = Duration::of_seconds(10);
  must(store().record_signal(signal));
  const Timestamp kept_at = store().now();
  const auto due = must(store().next_due(kept_at));
  ASSERT_TRUE(due.has_value());
  EXPECT_LE(*due, *add(kept_at, Duration::of_seconds(10)));
  EXPECT_EQ(must(store().expire_signals(10)), 0u);
  clock_.advance(Duration::of_seconds(11));
  EXPECT_EQ(must(store().expire_signals(10)), 1u);
  EXPECT_EQ(must(store().expire_signals(10)), 0u);
  const auto letters = must(store().list_dead_letters({})).items;
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].kind, "signal");
  EXPECT_FALSE(letters[0].instance.has_value());
  EXPECT_TRUE(letters[0].reason.starts_with("expired")) << letters[0].reason;
  EXPECT_EQ(letters[0].envelope["name"], Json("paid"));
  EXPECT_EQ(letters[0].envelope["key"], Json("42"));
  EXPECT_EQ(letters[0].envelope["payload"], signal.payload);
  const auto events = must(store().list_outbox({}, {})).items;
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event.type, "cairn.signal.expired");
  EXPECT_EQ(events[0].event.data["signal"]["name"], Json("paid"));
  commit(waiting("a", "paid", Json("42")));
  EXPECT_TRUE(must(store().list_messages({"a"})).empty());
}

TEST_P(Signals, ThatAreKeptAreListedAndDiscarded) {
  CorrelatedSignal forever = sample::signal("s1", "paid", Json("1"));
  forever.ttl.reset();
  must(store().record_signal(forever));
  must(store().record_signal(sample::signal("s2", "paid")));
  must(store().record_signal(sample::signal("s3", "shipped", Json("1"))));
  const auto all = must(store().list_signals({}, {})).items;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].id, "s1");
  EXPECT_EQ(all[0].key, Json("1"));
  EXPECT_EQ(all[0].payload, forever.payload);
  EXPECT_FALSE(all[0].until.has_value());
  EXPECT_TRUE(all[1].until.has_value());
  EXPECT_TRUE(all[1].key.is_null());
  EXPECT_EQ(must(store().list_signals({"paid", {}}, {})).items.size(), 2u);
  EXPECT_EQ(must(store().list_signals({"", "1"}, {})).items.size(), 2u);
  const auto first = must(store().list_signals({}, {2, ""}));
  ASSERT_EQ(first.items.size(), 2u);
  const auto rest = must(store().list_signals({}, {2, first.next_cursor}));
  ASSERT_EQ(rest.items.size(), 1u);
  EXPECT_EQ(rest.items[0].id, "s3");
  EXPECT_TRUE(rest.next_cursor.empty());
  EXPECT_TRUE(must(store().discard_signal(all[1].number)));
  EXPECT_FALSE(must(store().discard_signal(all[1].number)));
  EXPECT_EQ(must(store().list_signals({}, {})).items.size(), 2u);
}

TEST_P(Signals, ThatWouldBeKeptAreRefusedAtTheLimit) {
  CorrelatedSignal signal = sample::signal("s", "paid", Json("42"));
  signal.remember = true;
  signal.kept_per_key_max = 3;
  for (int i = 0; i < 3; ++i) {
    signal.id = "s" + std::to_string(i);
    EXPECT_TRUE(must(store().record_signal(signal)).kept);
  }
  signal.id = "fourth";
  auto refused = store().record_signal(signal);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit);
  // The id was not used up, other keys have room, and so has one that is waited for.
  CorrelatedSignal other = signal;
  other.id = "other";
  other.key = Json("43");
  EXPECT_TRUE(must(store().record_signal(other)).kept);
  other.id = "none";
  other.key = {};
  EXPECT_TRUE(must(store().record_signal(other)).kept);
  other.id = "total";
  other.kept_total_max = 5;
  refused = store().record_signal(other);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("limits.signals_total_max = 5"), std::string::npos) << refused.error().message;
  commit(waiting("a", "paid", Json("42")));  // takes one of them
  EXPECT_FALSE(must(store().record_signal(signal)).duplicate);
}

TEST_P(Signals, AnEarlySignalIsKeptForTheWaitThatOpensLater) {
  EXPECT_TRUE(must(store().record_signal(sample::signal("s", "paid", Json("42")))).kept);
  EXPECT_TRUE(must(store().take_messages(10, signal_hold)).empty());
  commit(waiting("other", "paid", Json("41")));
  EXPECT_TRUE(must(store().list_messages({"other"})).empty());
  commit(waiting("a", "paid", Json("42")));
  const auto messages = must(store().list_messages({"a"}));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].body["id"], Json("s"));
  EXPECT_TRUE(told().messages);
}

TEST_P(Signals, AKeptSignalWithoutAKeyFitsAWaitWithoutOne) {
  must(store().record_signal(sample::signal("s", "paid")));
  commit(waiting("a", "paid", Json("x")));
  EXPECT_TRUE(must(store().list_messages({"a"})).empty());
  commit(waiting("b", "paid"));
  EXPECT_EQ(must(store().list_messages({"b"})).size(), 1u);
}

TEST_P(Signals, AKeptSignalIsUsedByOneInstance) {
  must(store().record_signal(sample::signal("s", "paid")));
  commit(waiting("a", "paid"));
  commit(waiting("b", "paid"));
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u);
  EXPECT_TRUE(must(store().list_messages({"b"})).empty());
}

TEST_P(Signals, KeptSignalsComeOldestFirstOneAtATime) {
  must(store().record_signal(sample::signal("s1", "paid")));
  must(store().record_signal(sample::signal("s2", "paid")));
  Advance advance = waiting("a", "paid");
  commit(advance);
  auto messages = must(store().list_messages({"a"}));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].body["id"], Json("s1"));
  // Its delivery, which left the wait open (a `where` that did not fit), brings the next.
  Unit unit;
  unit.advances = {sample::next(advance.after)};
  unit.message = messages[0].id;
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  messages = must(store().list_messages({"a"}));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].body["id"], Json("s2"));
}

TEST_P(Signals, ARefusedOneDoesNotHoldUpTheNextOne) {
  must(store().record_signal(sample::signal("bad", "paid")));
  must(store().record_signal(sample::signal("good", "paid")));
  must(store().record_signal(sample::signal("other", "shipped")));
  commit(waiting("a", "paid"));
  auto messages = must(store().list_messages({"a"}));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].body["id"], Json("bad"));
  // The instance refuses it, so there is no commit of the instance.
  Unit refused;
  refused.message = messages[0].id;
  EXPECT_EQ(kind_of_commit(refused), Kind::done);
  EXPECT_TRUE(told().messages);
  messages = must(store().list_messages({"a"}));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].body["id"], Json("good"));
  refused.message = messages[0].id;
  EXPECT_EQ(kind_of_commit(refused), Kind::done);
  EXPECT_TRUE(must(store().list_messages({"a"})).empty());
  EXPECT_EQ(must(store().list_signals({}, {})).items.size(), 1u);
}

TEST_P(Signals, AKeptSignalExpires) {
  CorrelatedSignal signal = sample::signal("s", "paid");
  signal.ttl = Duration::of_seconds(10);
  must(store().record_signal(signal));
  clock_.advance(Duration::of_seconds(10));
  commit(waiting("a", "paid"));
  EXPECT_TRUE(must(store().list_messages({"a"})).empty());
}

TEST_P(Signals, AKeptSignalLivesUntilItsTimeIsOver) {
  CorrelatedSignal signal = sample::signal("s", "paid");
  signal.ttl = Duration::of_seconds(10);
  must(store().record_signal(signal));
  clock_.advance(Duration::of_ms(9999));
  commit(waiting("a", "paid"));
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u);
}

TEST_P(Signals, ARememberedIdIsRecordedOnce) {
  CorrelatedSignal signal = sample::signal("s", "paid");
  signal.remember = true;
  EXPECT_FALSE(must(store().record_signal(signal)).duplicate);
  EXPECT_TRUE(must(store().record_signal(signal)).duplicate);
  commit(waiting("a", "paid"));
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u);
}

TEST_P(Signals, AnInstanceThatNoLongerWaitsGetsNothing) {
  Advance advance = waiting("a", "paid");
  commit(advance);
  Advance second = sample::next(advance.after);
  sample::close_wait(second, "w-a");
  commit(second);
  EXPECT_TRUE(must(store().record_signal(sample::signal("s", "paid"))).kept);
}

// A signal that an instance has refused is left for others; offering it again would loop.
TEST_P(Signals, AnInstanceThatHasHadItIsNotAskedAgain) {
  commit(waiting("a", "paid"));
  const auto first = must(store().record_signal(sample::signal("s", "paid", Json("1"))));
  EXPECT_EQ(first.delivered, std::vector<InstanceId>{{"a"}});
  const auto taken = must(store().take_messages(10, signal_hold));
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].body["alone"], Json(true));
  Unit left;
  left.advances = {sample::next(waiting("a", "paid").after)};
  left.message = taken[0].id;
  left.inbox = Unit::Inbox{{"a"}, "s"};
  left.signals = {sample::signal("s", "paid", Json("1"))};
  ASSERT_EQ(must(store().commit(std::span(&left, 1))).front().kind, Kind::done);
  EXPECT_TRUE(must(store().list_messages({"a"})).empty()) << "neither routed to it nor claimed by it";
  must(store().record_signal(sample::signal("t", "paid", Json("1"))));
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u) << "another one is";
  commit(waiting("b", "paid"));
  const auto claimed = must(store().list_messages({"b"}));
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].body["id"], Json("s"));
  EXPECT_EQ(claimed[0].body["alone"], Json(true));
}

TEST_P(Signals, OneThatSeveralGetIsNobodysAlone) {
  commit(waiting("a", "paid"));
  commit(waiting("b", "paid"));
  must(store().record_signal(sample::signal("s", "paid")));
  for (const Message& message : must(store().take_messages(10, signal_hold))) EXPECT_EQ(message.body["alone"], Json());
}

TEST_P(Signals, AUnitMaySendOneOn) {
  commit(waiting("a", "paid"));
  Unit unit;
  unit.signals = {sample::signal("s", "paid")};
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u);
}

CAIRN_CONTRACT(Messages);

Unit send(const std::string& target, Message::Kind kind = Message::Kind::cancel) {
  Unit unit;
  Message message;
  message.target = {target};
  message.kind = kind;
  message.body = Json::object({{"reason", "because"}});
  unit.messages = {message};
  return unit;
}

TEST_P(Messages, AreTakenInOrder) {
  commit(sample::begin("a"));
  commit(sample::begin("b"));
  commit(send("b"));
  commit(send("a", Message::Kind::child_finished));
  const auto messages = must(store().take_messages(10, signal_hold));
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].target.value, "b");
  EXPECT_EQ(messages[1].target.value, "a");
  EXPECT_EQ(messages[1].kind, Message::Kind::child_finished);
  EXPECT_EQ(messages[1].body, Json::object({{"reason", "because"}}));
  EXPECT_LT(messages[0].id, messages[1].id);
}

TEST_P(Messages, AtMostAsManyAsAsked) {
  commit(sample::begin("a"));
  for (int i = 0; i < 5; ++i) commit(send("a"));
  EXPECT_EQ(must(store().take_messages(3, signal_hold)).size(), 3u);
}

TEST_P(Messages, WhatIsTakenIsNotGivenOutAgainWhileHeld) {
  if (forgets_marks()) GTEST_SKIP() << "a crash gives it back";
  commit(sample::begin("a"));
  commit(send("a"));
  EXPECT_EQ(must(store().take_messages(10, signal_hold)).size(), 1u);
  EXPECT_TRUE(must(store().take_messages(10, signal_hold)).empty());
  EXPECT_EQ(must(store().next_due()), Timestamp::of_unix_ms(clock_.now().unix_ms() + 30'000));
  clock_.advance(signal_hold);
  EXPECT_EQ(must(store().take_messages(10, signal_hold)).size(), 1u);
}

// A message that could not be delivered is held for a while. Later messages wait, but only those of its instance.
TEST_P(Messages, NoneIsTakenPastAnEarlierOneThatIsHeld) {
  if (forgets_marks()) GTEST_SKIP() << "a crash gives it back";
  commit(sample::begin("a"));
  commit(sample::begin("b"));
  commit(send("a"));
  const auto first = must(store().take_messages(10, signal_hold));
  ASSERT_EQ(first.size(), 1u);
  commit(send("a"));
  commit(send("b"));
  const auto others = must(store().take_messages(10, signal_hold));
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].target.value, "b");
  EXPECT_EQ(must(store().next_due()), Timestamp::of_unix_ms(clock_.now().unix_ms() + 30'000));
  clock_.advance(signal_hold);
  const auto again = must(store().take_messages(10, signal_hold));
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0].id, first[0].id);
}

TEST_P(Messages, WhatIsGivenBackCanBeTakenAgain) {
  commit(sample::begin("a"));
  commit(send("a"));
  const auto messages = must(store().take_messages(10, signal_hold));
  store().give_back_message(messages.at(0).id);
  EXPECT_EQ(must(store().take_messages(10, signal_hold)).size(), 1u);
}

TEST_P(Messages, ACrashGivesThemBack) {
  if (!forgets_marks()) GTEST_SKIP() << "needs a store that is opened again";
  commit(sample::begin("a"));
  commit(send("a"));
  EXPECT_EQ(must(store().take_messages(10, signal_hold)).size(), 1u);
  EXPECT_EQ(must(store().take_messages(10, signal_hold)).size(), 1u);
}

TEST_P(Messages, GoTogetherWithWhatTheyCaused) {
  const Advance first = sample::begin("a");
  commit(first);
  commit(send("a"));
  const auto messages = must(store().take_messages(10, signal_hold));
  Unit unit;
  unit.advances = {sample::next(first.after)};
  unit.message = messages.at(0).id;
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  EXPECT_TRUE(must(store().list_messages({"a"})).empty());
}

TEST_P(Messages, AStaleUnitLeavesTheMessage) {
  const Advance first = sample::begin("a");
  commit(first);
  commit(sample::next(first.after));
  commit(send("a"));
  Unit unit;
  unit.advances = {sample::next(first.after)};
  unit.message = must(store().take_messages(10, signal_hold)).at(0).id;
  EXPECT_EQ(kind_of_commit(unit), Kind::stale);
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u);
}

TEST_P(Messages, AMessageThatIsGoneMakesTheUnitStale) {
  const Advance first = sample::begin("a");
  commit(first);
  commit(send("a"));
  Unit unit;
  unit.message = must(store().take_messages(10, signal_hold)).at(0).id;
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  unit.advances = {sample::next(first.after)};
  EXPECT_EQ(kind_of_commit(unit), Kind::stale);
  EXPECT_EQ(must(store().find_snapshot({"a"}))->state_version, 1u);
}

TEST_P(Messages, AKeptSignalIsNoMessage) {
  must(store().record_signal(sample::signal("s", "paid")));
  Unit unit;
  for (std::int64_t id = 1; id < 5; ++id) {
    unit.message = id;
    EXPECT_EQ(kind_of_commit(unit), Kind::stale);
  }
  commit(waiting("a", "paid"));
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u);
}

TEST_P(Messages, ToNobodyGoToTheDeadLetters) {
  commit(send("nobody"));
  EXPECT_TRUE(must(store().take_messages(10, signal_hold)).empty());
  const auto letters = must(store().list_dead_letters({})).items;
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].envelope["kind"], Json("cancel"));
  EXPECT_EQ(letters[0].reason, "there is no such instance");
}

TEST_P(Messages, ToAnInstanceStartedInTheSameUnitArrive) {
  Unit unit = send("a");
  unit.advances = {sample::begin("a")};
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u);
}

}  // namespace cairn
