#include "instance/trace_id.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace cairn
