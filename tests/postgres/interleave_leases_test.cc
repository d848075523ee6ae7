// Two nodes at runs that were submitted together, their statements in many orders: no run is leased twice, none that
// was cancelled or removed is leased afterwards, and none is lost.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "base/clock.h"
#include "base/id.h"
#include "orchestra.h"
#include "store/open.h"

namespace cairn {
namespace {

constexpr Duration lease_length = Duration::of_seconds(30);

struct Told {
  std::vector<std::string> leased;
  std::set<std::string> gone;
};
struct LeaseVerb {
  const char* name;
  std::function<Told(Store&, const std::vector<RunRow>& runs)> act;
};

Told lease_alike(Store& store, std::size_t max) {
  Told told;
  const auto leased = store.lease_runs({"w", {"alike."}, {}, max, lease_length});
  EXPECT_TRUE(leased.has_value()) << (leased ? "" : leased.error().message);
  for (const RunRow& run : leased ? *leased : std::vector<RunRow>()) told.leased.push_back(run.id.value);
  return told;
}

Told change_alike(Store& store, RunChange::Kind kind, const RunRow& run) {
  RunChange asked;
  asked.kind = kind;
  asked.run = run.id;
  asked.actor = "w";
  const auto changed = store.change_run(asked);
  EXPECT_TRUE(changed.has_value()) << (changed ? "" : changed.error().message);
  if (!changed || changed->kind != RunChanged::Kind::done) return {};
  return {{}, {run.id.value}};
}

const std::vector<LeaseVerb>& lease_verbs() {
  using Runs = std::vector<RunRow>;
  static const std::vector<LeaseVerb> list = {
      {"lease all", [](Store& store, const Runs&) { return lease_alike(store, 500); }},
      {"lease part", [](Store& store, const Runs&) { return lease_alike(store, 70); }},
      {"lease few", [](Store& store, const Runs&) { return lease_alike(store, 3); }},
      {"cancel first",
       [](Store& store, const Runs& runs) { return change_alike(store, RunChange::Kind::cancel, runs[0]); }},
      {"remove late",
       [](Store& store, const Runs& runs) { return change_alike(store, RunChange::Kind::remove, runs[90]); }},
  };
  return list;
}

class InterleaveLeases : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("CAIRN_TEST_POSTGRES");
    if (!given) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
    server_ = given;
    schema_ = "leases_" + std::to_string(::getpid());
    for (auto& store : stores_) {
      auto opened = open_store(server_ + "&clock=process&connections=4&schema=" + schema_, clock_);
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
      store = std::move(*opened);
    }
  }
  void TearDown() override {
    for (auto& store : stores_) store.reset();
    if (server_.empty()) return;
    postgres::Target target;
    target.conninfo = server_;
    target.schema = schema_;
    auto opened = postgres::Connection::open(target);
    ASSERT_TRUE(opened.has_value());
    (*opened)->script("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }

  std::vector<RunRow> submit() {
    std::vector<RunRow> runs(100);
    auto ids = new_uuids(clock_.now(), runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i].id = {ids[i]};
      runs[i].type = "alike.p";
    }
    EXPECT_TRUE(stores_[0]->submit_runs(runs).has_value());
    return runs;
  }

  void play(Orchestra& orchestra, const LeaseVerb& first, const LeaseVerb& second, const std::vector<bool>& order) {
    const auto runs = submit();
    Told left, right;
    orchestra.play([&] { left = first.act(*stores_[0], runs); }, [&] { right = second.act(*stores_[1], runs); }, order);
    expect_sound_queue();
    std::map<std::string, int> leased;
    std::set<std::string> gone = left.gone;
    gone.insert(right.gone.begin(), right.gone.end());
    for (const Told& told : {left, right}) {
      for (const std::string& run : told.leased) ++leased[run];
    }
    // A run may have been leased and then cancelled, but not the other way round.
    for (const Told& rest :
         {lease_alike(*stores_[0], 500), lease_alike(*stores_[1], 500), lease_alike(*stores_[0], 5)}) {
      for (const std::string& run : rest.leased) {
        EXPECT_FALSE(gone.contains(run));
        ++leased[run];
      }
    }
    for (const RunRow& run : runs) {
      EXPECT_LE(leased[run.id.value], 1);
      EXPECT_TRUE(leased[run.id.value] == 1 || gone.contains(run.id.value)) << "lost";
    }
    const auto figures = stores_[0]->figures(1000);
    ASSERT_TRUE(figures.has_value());
    EXPECT_EQ(figures->runs_ready, 0u) << "something is left in the queue";
    expect_sound_queue();
  }
  void expect_sound_queue() {
    const auto faults = stores_[0]->queue_faults(1);
    ASSERT_TRUE(faults.has_value()) << faults.error().message;
    EXPECT_TRUE(faults->empty()) << "run " << faults->front().run.value;
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  std::string server_, schema_;
  std::unique_ptr<Store> stores_[2];
};

TEST_F(InterleaveLeases, NoRunIsLeasedTwiceOrLost) {
  const char* given = std::getenv("CAIRN_INTERLEAVINGS");
  const std::size_t each = given ? std::strtoul(given, nullptr, 10) : 2;
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  Orchestra orchestra(server_);
  std::size_t count = 0;
  for (std::size_t i = 0; i < lease_verbs().size(); ++i) {
    for (std::size_t j = i; j < lease_verbs().size(); ++j) {
      for (std::size_t n = 0; n < each; ++n, ++count) {
        std::vector<bool> order(40);
        std::string turns;
        for (std::size_t turn = 0; turn < order.size(); ++turn) {
          order[turn] = random() % 2 == 0;
          turns += order[turn] ? 'B' : 'A';
        }
        SCOPED_TRACE(std::string(lease_verbs()[i].name) + " and " + lease_verbs()[j].name + ", " + turns);
        play(orchestra, lease_verbs()[i], lease_verbs()[j], order);
        if (HasFailure()) return;
      }
    }
  }
  std::printf("%zu interleavings, seed %u\n", count, seed);
}

}  // namespace
}  // namespace cairn
