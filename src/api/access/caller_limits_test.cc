#include "api/access/caller_limits.h"

#include <gtest/gtest.h>

#include "api/access/credential_watch.h"
#include "base/json.h"
#include "http/event_line.h"

namespace cairn::api {
namespace {

using Instant = CallerLimiter::Instant;

Identity with_role(Role role, const std::string& account = "key:1") {
  Identity identity;
  identity.account = account;
  identity.roles = {role};
  return identity;
}

Request get(const std::string& path, std::vector<std::pair<std::string, std::string>> query = {}) {
  Request request;
  request.method = "GET";
  request.path = path;
  request.query = std::move(query);
  return request;
}

std::string header_of(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

TEST(CallerLimiter, RefusesARateAndSaysWhenToComeBack) {
  CallerLimits limits;
  limits.rate[static_cast<std::size_t>(Role::viewer)] = 10;
  CallerLimiter limiter(limits);
  Instant now{std::chrono::hours(1)};
  int allowed = 0;
  std::optional<Response> refusal;
  for (int i = 0; i < 100; ++i) {
    auto admission = limiter.admit(with_role(Role::viewer), Demand::ordinary, now);
    if (!admission.refusal) {
      ++allowed;
    } else if (!refusal) {
      refusal = std::move(admission.refusal);
    }
  }
  EXPECT_EQ(allowed, 20);  // two seconds' worth at once
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 429);
  EXPECT_EQ(header_of(*refusal, "retry-after"), "1");
  const auto problem = parse_json(refusal->body);
  ASSERT_TRUE(problem);
  EXPECT_EQ((*problem)["limit"], Json("limits.rate_viewer"));
  EXPECT_EQ((*problem)["limit_value"], Json(10));
  // Another credential is not affected, and neither is this one a second later.
  EXPECT_FALSE(limiter.admit(with_role(Role::viewer, "key:2"), Demand::ordinary, now).refusal);
  now += std::chrono::seconds(1);
  allowed = 0;
  for (int i = 0; i < 100; ++i) {
    if (!limiter.admit(with_role(Role::viewer), Demand::ordinary, now).refusal) ++allowed;
  }
  EXPECT_EQ(allowed, 10);
}

TEST(CallerLimiter, OfSeveralRolesTheHighestRateCounts) {
  CallerLimits limits;
  limits.rate.fill(1);
  limits.rate[static_cast<std::size_t>(Role::operations)] = 0;  // unlimited
  CallerLimiter limiter(limits);
  Identity identity = with_role(Role::viewer);
  identity.roles = {Role::viewer, Role::operations, Role::starter};
  const Instant now{std::chrono::hours(1)};
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(limiter.admit(identity, Demand::ordinary, now).refusal);
}

TEST(CallerLimiter, APermitCountsUntilItIsDropped) {
  CallerLimits limits;
  limits.expensive_max = 2;
  limits.streams_max = 1;
  CallerLimiter limiter(limits);
  auto first = limiter.admit(with_role(Role::viewer), Demand::expensive);
  auto second = limiter.admit(with_role(Role::viewer), Demand::expensive);
  EXPECT_FALSE(first.refusal);
  EXPECT_FALSE(second.refusal);
  const auto third = limiter.admit(with_role(Role::viewer), Demand::expensive);
  ASSERT_TRUE(third.refusal);
  EXPECT_EQ(third.refusal->status, 429);
  EXPECT_FALSE(limiter.admit(with_role(Role::viewer), Demand::stream).refusal);
  EXPECT_FALSE(limiter.admit(with_role(Role::viewer, "key:2"), Demand::expensive).refusal);
  first.permit.reset();
  EXPECT_FALSE(limiter.admit(with_role(Role::viewer), Demand::expensive).refusal);
}

TEST(CallerLimiter, ManyCallersDoNotTakeMemoryForEver) {
  CallerLimits limits;
  CallerLimiter limiter(limits);
  Instant now{std::chrono::hours(1)};
  for (int i = 0; i < 30'000; ++i) {
    EXPECT_FALSE(limiter.admit(with_role(Role::viewer, "key:" + std::to_string(i)), Demand::ordinary, now).refusal);
    now += std::chrono::milliseconds(10);
  }
}

TEST(Demand, OfARequest) {
  EXPECT_EQ(demand_of("getInstance", get("/v1/instances/1")), Demand::ordinary);
  EXPECT_EQ(demand_of("getInstance", get("/v1/instances/1", {{"wait", "30s"}})), Demand::long_poll);
  EXPECT_EQ(demand_of("leaseRuns", get("/v1/runs/lease")), Demand::long_poll);
  EXPECT_EQ(demand_of("streamEvents", get("/v1/events")), Demand::stream);
  EXPECT_EQ(demand_of("getInstanceDiagram", get("/v1/instances/1/diagram")), Demand::expensive);
  EXPECT_EQ(demand_of("explainInstance", get("/v1/instances/1/why")), Demand::expensive);
  EXPECT_EQ(demand_of("listAudit", get("/v1/audit")), Demand::ordinary);
  EXPECT_EQ(demand_of("listAudit", get("/v1/audit", {{"from", "2026-01-01"}})), Demand::expensive);
  EXPECT_EQ(demand_of("listInstances", get("/v1/instances")), Demand::ordinary);
  EXPECT_EQ(demand_of("listInstances", get("/v1/instances", {{"q", "x"}})), Demand::expensive);
  EXPECT_EQ(demand_of("listRuns", get("/v1/runs", {{"limit", "1000"}})), Demand::expensive);
  EXPECT_EQ(demand_of("listRuns", get("/v1/runs", {{"limit", "99999999999999999999999"}})), Demand::expensive);
  EXPECT_EQ(demand_of("listRuns", get("/v1/runs", {{"limit", "100"}})), Demand::ordinary);
}

TEST(CredentialWatch, EndsWhatIsNoLongerAccepted) {
  CredentialWatch watch(std::chrono::milliseconds(1));
  std::atomic<bool> accepted{true};
  std::atomic<int> ended{0};
  std::atomic<int> asked{0};
  const auto kept = watch.add([&] { return accepted.load(); }, [&] { ++ended; });
  auto dropped = watch.add([&] { return ++asked > 0; }, [&] { ended = 1000; });
  while (asked == 0) std::this_thread::yield();
  dropped.reset();
  EXPECT_EQ(ended, 0);
  accepted = false;
  while (ended == 0) std::this_thread::yield();
  EXPECT_LT(ended, 1000);
}

TEST(EventStream, AcceptsOneLargeTextWhenNothingWaits) {
  const auto line = std::make_shared<EventStream::Line>([] {}, 100);
  const EventStream stream(line);
  EXPECT_TRUE(stream.takes(1'000));
  EXPECT_TRUE(stream.send(std::string(1'000, 'x')));
  EXPECT_FALSE(stream.takes(1));
  EXPECT_TRUE(stream.open());
  EXPECT_FALSE(stream.send("x"));  // too many bytes wait: it is closed
  EXPECT_FALSE(stream.open());
}

TEST(EventStream, DropsWhatItHoldsWhenItIsClosed) {
  const auto line = std::make_shared<EventStream::Line>([] {}, 100);
  const EventStream stream(line);
  auto held = std::make_shared<int>(1);
  stream.hold(held);
  EXPECT_EQ(held.use_count(), 2);
  stream.close();
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace cairn::api
