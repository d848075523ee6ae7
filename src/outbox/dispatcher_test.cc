#include "outbox/dispatcher.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>

#include "outbox/subscriber.h"
#include "store/memory/memory_store.h"

namespace cairn {
namespace {

class Dispatching : public testing::Test {
 protected:
  // A sink that accepts every event that is not in `refused_`.
  std::unique_ptr<Sink> sink(const std::string& name, std::vector<std::string> types = {}) {
    return std::make_unique<Subscriber>(name, std::move(types), "/test", [this, name](const Json& event) {
      const std::string id(event.text_or("id", ""));
      if (refused_.contains(name + " " + id)) return false;
      got_[name] += id + " ";
      return true;
    });
  }
  std::unique_ptr<Dispatcher> dispatcher(std::vector<std::string> names = {"web"}, DispatcherOptions options = {}) {
    std::vector<std::unique_ptr<Sink>> sinks;
    for (const std::string& name : names) sinks.push_back(sink(name));
    return std::make_unique<Dispatcher>(store_, std::move(sinks), std::move(options));
  }
  void emit(const std::vector<std::pair<std::string, std::string>>& events) {
    Advance advance;
    advance.after.instance = {"i" + std::to_string(++instances_)};
    advance.after.program = {"p", "1.0.0", std::string(64, 'a')};
    advance.after.state_version = 1;
    for (const auto& [id, subject] : events) advance.outbox.push_back({{id}, "t." + id, subject, Json(1)});
    Unit unit;
    unit.advances = {advance};
    ASSERT_EQ(store_.commit(std::span(&unit, 1))->front().kind, CommitOutcome::Kind::done);
  }
  Dispatcher::Round round(Dispatcher& with) {
    auto done = with.dispatch();
    EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
    return done ? *done : Dispatcher::Round{};
  }
  std::size_t waiting() {
    OutboxFilter filter;
    filter.unpublished = true;
    return store_.list_outbox(filter, {1000, ""})->items.size();
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore store_{clock_};
  std::set<std::string> refused_;
  std::map<std::string, std::string> got_;
  int instances_ = 0;
};

TEST_F(Dispatching, PublishesInOrder) {
  emit({{"a", "s"}, {"b", "s"}, {"c", "t"}});
  const auto with = dispatcher();
  EXPECT_EQ(round(*with).published, 3u);
  EXPECT_EQ(got_["web"], "a b c ");
  EXPECT_EQ(waiting(), 0u);
  EXPECT_EQ(round(*with).claimed, 0u);
}

TEST_F(Dispatching, AFailureHoldsBackItsSubjectOnly) {
  emit({{"a", "s"}, {"b", "s"}, {"c", "t"}});
  refused_ = {"web a"};
  const auto with = dispatcher();
  EXPECT_EQ(round(*with).published, 1u);
  EXPECT_EQ(got_["web"], "c ");
  EXPECT_EQ(round(*with).claimed, 0u) << "the delay is not over";
  refused_.clear();
  clock_.advance(Duration::of_seconds(2));
  EXPECT_EQ(round(*with).published, 2u);
  EXPECT_EQ(got_["web"], "c a b ");
  const auto log = *store_.list_deliveries(store_.list_outbox({}, {})->items.at(0).sequence);
  ASSERT_EQ(log.size(), 2u);
  EXPECT_FALSE(log[0].delivered);
  EXPECT_EQ(log[0].error, "the handler returned false");
  EXPECT_EQ(log[1].attempt, 2);
  EXPECT_TRUE(log[1].delivered);
}

TEST_F(Dispatching, TheDelayGrows) {
  emit({{"a", "s"}});
  refused_ = {"web a"};
  const auto with = dispatcher();
  round(*with);
  std::int64_t before = 0;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t delay = between(clock_.now(), **store_.next_due()).ms_up();
    EXPECT_GT(delay, before);
    before = delay;
    clock_.advance(Duration::of_ms(delay));
    EXPECT_EQ(round(*with).claimed, 1u);
  }
}

TEST_F(Dispatching, WhoHasItDoesNotGetItAgain) {
  emit({{"a", "s"}, {"b", "s"}});
  refused_ = {"two a"};
  auto with = dispatcher({"one", "two"});
  round(*with);
  EXPECT_EQ(got_["one"], "a b ");
  EXPECT_EQ(got_["two"], "");
  refused_.clear();
  clock_.advance(Duration::of_seconds(300));
  // Another node takes over. It reads the delivery log.
  with = dispatcher({"one", "two"}, {.owner = "other"});
  EXPECT_EQ(round(*with).published, 2u);
  EXPECT_EQ(got_["one"], "a b ");
  EXPECT_EQ(got_["two"], "a b ");
}

TEST_F(Dispatching, OneNodeAtATime) {
  emit({{"a", "s"}});
  refused_ = {"web a"};
  const auto first = dispatcher({"web"}, {.owner = "first"});
  round(*first);
  emit({{"b", "t"}});
  const auto second = dispatcher({"web"}, {.owner = "second"});
  EXPECT_TRUE(round(*second).locked_out);
  clock_.advance(Duration::of_seconds(61));
  EXPECT_FALSE(round(*second).locked_out) << "a dead node's lock ends";
}

TEST_F(Dispatching, AnIdleOneLeavesTheLockAlone) {
  const auto first = dispatcher({"web"}, {.owner = "first"});
  emit({{"a", "s"}});
  round(*first);
  round(*first);
  emit({{"b", "s"}});
  const auto second = dispatcher({"web"}, {.owner = "second"});
  EXPECT_EQ(round(*second).published, 1u);
}

TEST_F(Dispatching, ASinkMayWantSomeTypesOnly) {
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(sink("some", {"t.a"}));
  Dispatcher with(store_, std::move(sinks), {});
  emit({{"a", "s"}, {"b", "s"}});
  EXPECT_EQ(round(with).published, 1u);
  EXPECT_EQ(waiting(), 0u) << "what nobody wants is done with";
  EXPECT_EQ(got_["some"], "a ");
}

TEST_F(Dispatching, InTheEndItBecomesADeadLetter) {
  emit({{"a", "s"}, {"b", "s"}});
  refused_ = {"web a"};
  const auto with = dispatcher({"web"}, {.attempts_max = 3});
  for (int i = 0; i < 4; ++i) {
    round(*with);
    clock_.advance(Duration::of_seconds(300));
  }
  EXPECT_EQ(got_["web"], "b ");
  const auto letters = store_.list_dead_letters({});
  ASSERT_EQ(letters->items.size(), 1u);
  EXPECT_EQ(letters->items[0].kind, "event");
  EXPECT_EQ(letters->items[0].envelope["id"], Json("a"));
  refused_.clear();
  ASSERT_TRUE(*store_.resend_outbox(letters->items[0].envelope["sequence"].as_integer()));
  EXPECT_EQ(round(*with).published, 1u);
  EXPECT_EQ(got_["web"], "b a ");
}

TEST_F(Dispatching, ASinkThatHangsKeepsNothingFromTheOthers) {
  std::promise<void> answered;
  std::shared_future<void> answer = answered.get_future();
  std::mutex mutex;
  std::condition_variable came;
  std::string got;
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(std::make_unique<Subscriber>("hangs", std::vector<std::string>{}, "/test", [answer](const Json&) {
    answer.wait();
    return true;
  }));
  sinks.push_back(std::make_unique<Subscriber>("works", std::vector<std::string>{}, "/test", [&](const Json& event) {
    const std::lock_guard lock(mutex);
    got += std::string(event.text_or("id", "")) + " ";
    came.notify_all();
    return true;
  }));
  Dispatcher with(store_, std::move(sinks), {});
  emit({{"a", "s"}});
  with.start();
  const auto has = [&](const std::string& wanted) {
    std::unique_lock lock(mutex);
    return came.wait_for(lock, std::chrono::seconds(60), [&] { return got == wanted; });
  };
  EXPECT_TRUE(has("a "));
  emit({{"b", "s"}, {"c", "t"}});
  with.look();
  EXPECT_TRUE(has("a b c ")) << got;
  EXPECT_EQ(waiting(), 3u) << "the other one has not taken them";
  answered.set_value();
  EXPECT_TRUE(with.stop(std::chrono::seconds(60)));
}

TEST_F(Dispatching, ASinkThatTakesNothingIsLeftAloneForAWhile) {
  for (int i = 0; i < 9; ++i) emit({{"e" + std::to_string(i), "s" + std::to_string(i)}});
  for (int i = 0; i < 9; ++i) refused_.insert("web e" + std::to_string(i));
  const auto with = dispatcher({"web"}, {.batch_max = 3, .backoff = Duration::of_seconds(3600)});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(round(*with).claimed, 3u);
  emit({{"new", "s"}});
  EXPECT_EQ(round(*with).claimed, 0u) << "three batches in a row were refused";
  clock_.advance(Duration::of_seconds(1));
  refused_.insert("web new");
  EXPECT_EQ(round(*with).claimed, 1u) << "one event tells whether it is back";
  clock_.advance(Duration::of_seconds(1));
  EXPECT_EQ(round(*with).claimed, 0u) << "the pause grows";
  refused_.clear();
  clock_.advance(Duration::of_seconds(8000));
  EXPECT_EQ(round(*with).claimed, 1u);
  EXPECT_EQ(round(*with).claimed, 1u) << "at most a quarter of a batch are retries";
}

TEST_F(Dispatching, ASinkThatIsNoLongerSetGivesUpItsEvents) {
  emit({{"a", "s"}});
  refused_ = {"gone a"};
  auto with = dispatcher({"gone", "web"});
  round(*with);
  EXPECT_EQ(waiting(), 1u);
  clock_.advance(Duration::of_seconds(3600));
  with = dispatcher({"web"}, {.owner = "next"});
  round(*with);
  EXPECT_EQ(waiting(), 1u) << "another node may still have this sink";
  clock_.advance(Duration::of_seconds(86'400));
  round(*with);
  EXPECT_EQ(waiting(), 0u);
  EXPECT_EQ(got_["web"], "a ");
}

TEST_F(Dispatching, OnRequestItIsSentAgain) {
  emit({{"a", "s"}});
  const auto with = dispatcher();
  round(*with);
  ASSERT_TRUE(*store_.resend_outbox(store_.list_outbox({}, {})->items.at(0).sequence));
  EXPECT_EQ(round(*with).published, 1u);
  EXPECT_EQ(got_["web"], "a a ");
}

}  // namespace
}  // namespace cairn
