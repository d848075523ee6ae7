// The store a conformance test runs on. The same tests run on every back end, and on those that outlive the
// process once more with everything thrown away and opened again before each call. PostgreSQL takes part when
// CAIRN_TEST_POSTGRES names a server.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "store/store.h"

namespace cairn {

enum class BackEnd { memory, sqlite, sqlite_reopened, postgres, postgres_reopened };
std::string name_of(BackEnd back_end);
std::vector<BackEnd> back_ends();

class StoreContract : public testing::TestWithParam<BackEnd> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // For exactly one call.
  Store& store();
  // What is taken is remembered in memory only, so a store that is opened again gives it back.
  bool forgets_marks() const {
    return GetParam() == BackEnd::sqlite_reopened || GetParam() == BackEnd::postgres_reopened;
  }

  // From now on, also when the store is opened again.
  void keep_events(const EventPolicy& policy);

  CommitOutcome commit(const Unit& unit);
  CommitOutcome commit(const Advance& advance);
  CommitOutcome::Kind kind_of_commit(const Unit& unit) { return commit(unit).kind; }

  // Events of the outbox for the only sink.
  std::vector<OutboxRow> claim_events(std::size_t max, Duration hold);
  void publish_event(const OutboxRow& row);

  const SinkFilter sink_{"web"};
  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  Wakeup told_;  // everything the store told since the test began, added up
  std::string path_;

 private:
  void open();
  std::unique_ptr<Store> store_;
  EventPolicy events_;
};

// The value, or a failed test.
template <class T>
T must(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  if (!result) return T{};
  return std::move(*result);
}
inline void must(Result<void> result) { EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message); }

#define CAIRN_CONTRACT(suite)                                             \
  class suite : public StoreContract {};                                  \
  INSTANTIATE_TEST_SUITE_P(Stores, suite, testing::ValuesIn(back_ends()), \
                           [](const auto& instance) { return name_of(instance.param); })

}  // namespace cairn
