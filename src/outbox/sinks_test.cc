#include "outbox/sinks.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

std::string fault(std::string_view text) {
  const auto settings = read_event_settings(*parse_json(text));
  if (!settings) return settings.error().message;
  HttpClient client{EgressPolicy()};
  const auto sinks = make_sinks(*settings, client, [] { return Timestamp(); });
  client.stop();
  return sinks ? "nothing" : sinks.error().message;
}

TEST(Sinks, AreMadeFromSettings) {
  const auto settings = read_event_settings(*parse_json(
      R"({"source":"/orders","keep":["instances","runs"],"sinks":[
           {"name":"crm","types":["loan."],"http":{"url":"https://crm.example/hook","mode":"batched"}},
           {"log":{}}]})"));
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->keep, (EventPolicy{true, false, true, true}));
  HttpClient client{EgressPolicy()};
  const auto sinks = make_sinks(*settings, client, [] { return Timestamp(); });
  ASSERT_TRUE(sinks.has_value()) << sinks.error().message;
  ASSERT_EQ(sinks->size(), 2u);
  EXPECT_EQ((*sinks)[0]->name(), "crm");
  EXPECT_TRUE((*sinks)[0]->filter().wants("loan.decided"));
  EXPECT_FALSE((*sinks)[0]->filter().wants("cairn.instance.started"));
  EXPECT_EQ((*sinks)[1]->name(), "log");
  client.stop();
}

TEST(Sinks, WithoutAnyNobodyPublishesLifeCycles) {
  EXPECT_EQ(read_event_settings(Json())->keep, (EventPolicy{false, false, false, true}));
  EXPECT_EQ(read_event_settings(*parse_json(R"({"keep":["incidents"]})"))->keep,
            (EventPolicy{false, false, false, false, true}));
  EXPECT_EQ(read_event_settings(*parse_json(R"({"keep":["tasks"]})"))->keep, (EventPolicy{false, true, false, false}));
}

TEST(Sinks, WhatIsWrongIsNamed) {
  EXPECT_EQ(fault(R"({"keep":["everything"]})"),
            "events.keep: `everything` is unknown; use instances, tasks, runs or incidents");
  EXPECT_EQ(fault(R"({"sinks":[{}]})"), "events.sinks[0]: must have exactly one of http, redis and log");
  EXPECT_EQ(fault(R"({"sinks":[{"log":{}},{"log":{}}]})"), "events.sinks[1].name: must be unique");
  EXPECT_EQ(fault(R"({"sinks":[{"http":{"url":"ftp://x"}}]})"), "events.sinks[0].http.url: must be an https URL");
  EXPECT_EQ(fault(R"({"sinks":[{"http":{"url":"https://x","secret":"short"}}]})"),
            "events.sinks[0].http.secret: must have at least 32 characters");
  EXPECT_EQ(fault(R"({"sinks":[{"http":{"url":"https://x","mode":"loud"}}]})"),
            "events.sinks[0].http.mode: must be structured, binary or batched");
}

}  // namespace
}  // namespace cairn
