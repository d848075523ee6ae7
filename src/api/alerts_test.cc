// Alerts: raised once, after the time that they ask for, and cleared when it is over.
#include "api/alerts.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "definition/definition.h"
#include "store/memory/memory_store.h"

namespace cairn::api {
namespace {

constexpr const char* failing = R"(
cairn: 1
name: failing
version: 1.0.0
steps:
  - { id: bad, set: { x: '= state.nothing' } }
)";

class AlertsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = EngineCore::open(store_, {});
    ASSERT_TRUE(opened.has_value());
    core_ = std::move(*opened);
    ASSERT_TRUE(core_->registry().deploy(load_definition(failing, "test.yaml").program));
  }
  void TearDown() override { core_->leasing().waiters().stop(); }

  void set_alert(std::int64_t more_than, const std::string& lasts = "") {
    Json body = Json::object({{"name", "Stopped"}, {"filter", "status:suspended"}, {"more_than", more_than}});
    if (!lasts.empty()) body.set("for", lasts);
    ASSERT_TRUE(*store_.put_document({alert_kind, "stopped", "ann", body, 0, {}}, {}));
  }
  InstanceId suspend_one() {
    StartRequest request;
    request.definition = "failing";
    const auto started = core_->instances().start(std::move(request));
    EXPECT_TRUE(started.has_value() && started->status == Status::suspended);
    return started->instance;
  }
  std::vector<std::string> told() {
    std::vector<std::string> types;
    const auto page = store_.list_outbox({}, {});
    for (const OutboxRow& row : page->items) {
      if (row.event.subject == "alert/stopped") types.push_back(row.event.type);
    }
    return types;
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'800'000'000'000)};
  MemoryStore store_{clock_};
  std::unique_ptr<EngineCore> core_;
};

TEST_F(AlertsTest, AreRaisedOnceAndClearedOnce) {
  Alerts alerts(*core_);
  set_alert(1);
  const InstanceId first = suspend_one();
  EXPECT_EQ(*alerts.check(), 0) << "one is allowed";
  suspend_one();
  EXPECT_EQ(*alerts.check(), 1);
  EXPECT_EQ(*alerts.check(), 0) << "it is raised already";
  EXPECT_EQ(told(), std::vector<std::string>{"cairn.alert.raised"});
  const auto row = store_.find_document(alert_kind, "stopped");
  EXPECT_TRUE((**row).body.find("raised_at"));
  ASSERT_TRUE(core_->instances().request(first, CancelRequested{"x"}, {}));
  EXPECT_EQ(*alerts.check(), 1);
  EXPECT_EQ(*alerts.check(), 0);
  EXPECT_EQ(told(), (std::vector<std::string>{"cairn.alert.raised", "cairn.alert.cleared"}));
  const auto events = store_.list_outbox({}, {})->items;
  EXPECT_EQ(events.back().event.data["name"], Json("Stopped"));
  EXPECT_EQ(events.back().event.data["more_than"], Json(1));
}

TEST_F(AlertsTest, WaitForTheTimeThatTheyAskFor) {
  Alerts alerts(*core_);
  set_alert(0, "5m");
  const InstanceId one = suspend_one();
  EXPECT_EQ(*alerts.check(), 0);
  clock_.advance(Duration::of_seconds(299));
  EXPECT_EQ(*alerts.check(), 0);
  ASSERT_TRUE(core_->instances().request(one, CancelRequested{"x"}, {}));
  EXPECT_EQ(*alerts.check(), 0) << "it did not last";
  suspend_one();
  EXPECT_EQ(*alerts.check(), 0);
  clock_.advance(Duration::of_seconds(300));
  EXPECT_EQ(*alerts.check(), 1);
  EXPECT_EQ(told(), std::vector<std::string>{"cairn.alert.raised"});
}

}  // namespace
}  // namespace cairn::api
