#include "engine/result_waiters.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

Snapshot snapshot_of(const InstanceId& id, Status status) {
  Snapshot snapshot;
  snapshot.instance = id;
  snapshot.status = status;
  return snapshot;
}

const auto at_once = std::chrono::steady_clock::time_point::min();

TEST(ResultWaiters, AnEndThatWasCommittedHereIsHandedOver) {
  ResultWaiters waiters;
  ResultWaiters::Place place(waiters, {"a"});
  ResultWaiters::Place other(waiters, {"b"});
  waiters.tell(snapshot_of({"a"}, Status::completed));
  EXPECT_TRUE(place.wait_until(at_once));
  ASSERT_TRUE(place.end());
  EXPECT_EQ(place.end()->status, Status::completed);
  EXPECT_FALSE(other.wait_until(at_once));
  EXPECT_FALSE(other.end());
}

TEST(ResultWaiters, OfAnEndElsewhereTheyOnlyLearnThatThereIsOne) {
  ResultWaiters waiters;
  ResultWaiters::Place place(waiters, {"a"});
  waiters.tell("a");
  EXPECT_TRUE(place.wait_until(at_once));
  EXPECT_FALSE(place.end());
}

TEST(ResultWaiters, WhoWaitsForTheEndIsNotWokenByAChangeAndACallIs) {
  ResultWaiters waiters;
  ResultWaiters::Place place(waiters, {"a"});
  int calls = 0;
  const auto handle = waiters.call({"a"}, [&](const Snapshot* after) {
    ++calls;
    ASSERT_NE(after, nullptr);
  });
  waiters.tell(snapshot_of({"a"}, Status::waiting));
  EXPECT_FALSE(place.wait_until(at_once));
  EXPECT_EQ(calls, 1);
  waiters.tell(snapshot_of({"a"}, Status::suspended));
  EXPECT_TRUE(place.wait_until(at_once));
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace cairn
