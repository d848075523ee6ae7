// The store of a conformance test. The same tests run on every back end. On persistent back ends they run a second
// time, with the store closed and opened again before each call. PostgreSQL takes part if CAIRN_TEST_POSTGRES names a
// server.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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
  // True if claims are kept in memory only, so that a reopened store returns the same rows again.
  bool forgets_marks() const {
    return GetParam() == BackEnd::sqlite_reopened || GetParam() == BackEnd::postgres_reopened;
  }

  // From now on, even after the store is opened again.
  void keep_events(const EventPolicy& policy);

  void keep_apart(std::size_t piece_bytes_min);

  CommitOutcome commit(const Unit& unit);
  CommitOutcome commit(const Advance& advance);
  CommitOutcome::Kind kind_of_commit(const Unit& unit) { return commit(unit).kind; }

  // What another program reads (or writes) with SQL, as text; "NULL" for NULL, and JSON without spaces. Tables are
  // named `cairn.NAME`. The memory store has no SQL.
  bool has_sql() const { return GetParam() != BackEnd::memory; }
  std::vector<std::vector<std::string>> sql(const std::string& text);

  // Claims outbox events for the only sink.
  std::vector<OutboxRow> claim_events(std::size_t max, Duration hold);
  void publish_event(const OutboxRow& row);

  const SinkFilter sink_{"web"};
  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  // The sum of all wake-ups since `forget_told`. A store on a server tells from a thread of its own.
  Wakeup told() const;
  void forget_told();
  std::string path_;

 private:
  void open();
  mutable std::mutex told_mutex_;
  Wakeup told_;
  std::unique_ptr<Store> store_;
  EventPolicy events_;
  std::optional<std::size_t> piece_bytes_min_;
};

// Returns the value, or fails the test.
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
