#include "instance/trace_id.h"

#include <gtest/gtest.h>

#include "instance/carried_trace.h"

namespace cairn {
namespace {

TEST(TraceId, AnInstanceIsOneTrace) {
  const InstanceId instance{"order-7"};
  EXPECT_EQ(trace_id_of(instance), trace_id_of(InstanceId{"order-7"}));
  EXPECT_NE(trace_id_of(instance), trace_id_of(InstanceId{"order-8"}));
  EXPECT_EQ(trace_id_of(instance, RunId{"a"}), trace_id_of(instance, RunId{"b"}));
  EXPECT_EQ(trace_id_of(instance).size(), 32u);
  EXPECT_EQ(trace_id_of(instance).find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(TraceId, ARunOnItsOwnIsATrace) {
  EXPECT_NE(trace_id_of(std::nullopt, RunId{"a"}), trace_id_of(std::nullopt, RunId{"b"}));
}

TEST(TraceId, EachAttemptIsASpan) {
  const std::optional<InstanceId> instance = InstanceId{"order-7"};
  const std::string first = traceparent_of(instance, RunId{"a"}, 1);
  EXPECT_EQ(first, "00-" + trace_id_of(*instance) + "-" + span_id_of(RunId{"a"}, 1) + "-01");
  EXPECT_EQ(first.size(), 55u);
  EXPECT_NE(first, traceparent_of(instance, RunId{"a"}, 2));
  EXPECT_EQ(first.substr(0, 35), traceparent_of(instance, RunId{"a"}, 2).substr(0, 35));
}

constexpr const char* caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceId, KnowsAGoodTraceparent) {
  EXPECT_TRUE(is_traceparent(caller));
  EXPECT_TRUE(is_traceparent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more"));
  for (const char* const bad : {"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
                                "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                                "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                                "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                                "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01"}) {
    EXPECT_FALSE(is_traceparent(bad)) << bad;
  }
}

TEST(TraceId, ACallersTraceGoesOnAsItsCallerWantedIt) {
  EXPECT_EQ(continued_traceparent(caller, "00000000000000aa"),
            "00-0af7651916cd43dd8448eb211c80319c-00000000000000aa-01");
  const std::string silent = std::string(caller).substr(0, 53) + "00";
  EXPECT_FALSE(is_sampled(silent));
  EXPECT_EQ(continued_traceparent(silent, "00000000000000aa").substr(53), "00");
  const InstanceId instance{"order-7"};
  EXPECT_EQ(traceparent_of(caller, instance, RunId{"a"}, 1), continued_traceparent(caller, span_id_of(RunId{"a"}, 1)));
  EXPECT_EQ(traceparent_of("", instance, RunId{"a"}, 1), traceparent_of(instance, RunId{"a"}, 1));
  EXPECT_EQ(trace_id_of(caller, instance), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(trace_id_of("", instance), trace_id_of(instance));
}

TEST(CarriedTrace, WhateverItTravelsWithComesBackAsItWas) {
  const Json odd = Json::object({{"$value", 1}, {"b", 2}});
  for (const Json& given : {Json(), Json(1), Json("text"), Json::array({1, 2}), Json::object(),
                            Json::object({{"a", 1}}), Json::object({{"$value", 1}, {"b", 2}}), odd}) {
    const Json stored = with_trace(given, caller);
    EXPECT_EQ(stored["$traceparent"], Json(caller));
    const Carried carried = without_trace(stored);
    EXPECT_EQ(carried.value, given) << write_json(stored);
    EXPECT_EQ(carried.traceparent, caller);
    EXPECT_EQ(with_trace(given, ""), given);
    EXPECT_EQ(without_trace(given).traceparent, "");
  }
}

TEST(CarriedTrace, OneThatSomebodySpoiltIsIgnored) {
  const Carried carried = without_trace(Json::object({{"a", 1}, {"$traceparent", "00-nothing"}}));
  EXPECT_EQ(carried.value, Json::object({{"a", 1}}));
  EXPECT_EQ(carried.traceparent, "");
}

TEST(CarriedTrace, AnInstanceGivesItOnWithTheSpanOfItsLife) {
  Snapshot instance;
  instance.instance = {"order-7"};
  EXPECT_EQ(carried_by(instance), "");
  instance.trace = caller;
  EXPECT_EQ(carried_by(instance), continued_traceparent(caller, span_id_of("order-7")));
}

}  // namespace
}  // namespace cairn
