#include <gtest/gtest.h>

#include "instance/retry.h"
#include "instance/snapshot.h"
#include "instance/snapshot_format.h"

namespace cairn {
namespace {

Snapshot rich() {
  Snapshot snapshot;
  snapshot.instance = {"i-1"};
  snapshot.program = {"loan", "1.0.0", "abc"};
  snapshot.state_version = 7;
  snapshot.status = Status::suspended;
  snapshot.started_at = Timestamp{1'704'067'200, 0};
  snapshot.changed_at = Timestamp{1'704'067'201, 500'000'000};
  snapshot.input = Json::object({{"a", 1}});
  snapshot.state = Json::object({{"text", "ü\"\n"}, {"number", 0.1}, {"big", std::int64_t{9'007'199'254'740'993}}});
  snapshot.reference = {Json("K"), Json::object({{"p", 1}})};
  snapshot.output = Json("o");
  Strand main;
  main.id = 1;
  main.frames = {{"block", "steps", Json(0)},
                 {"repeat", "steps[0]", Json::object({{"index", 2}})},
                 {"block", "steps[0].repeat", Json(1)}};
  main.waits = {{"t-1"}};
  Strand branch;
  branch.id = 2;
  branch.parent = 1;
  branch.frames = {{"block", "steps[0]", Json(0)}};
  snapshot.strands = {main, branch};
  snapshot.ready = {2};
  Wait wait;
  wait.token = {"t-1"};
  wait.kind = WaitKind::signal;
  wait.step = "s";
  wait.strand = 1;
  wait.since = snapshot.started_at;
  wait.until = snapshot.changed_at;
  wait.name = "paid";
  wait.key = "k";
  wait.target = "x";
  snapshot.waits = {wait};
  snapshot.signals = {{"id", "name", Json("key"), Json::object({{"n", 1}}), snapshot.started_at}};
  snapshot.compensations = {{"steps[0]", 1, Json::object({{"index", 0}})}};
  Failure failure{FailureClass::timeout, "call_timeout", "late", Json::object({{"d", 1}}), 3, "s", "f:1:2"};
  snapshot.held = {{{"t-9"}, Json(1), failure}};
  snapshot.parent = Parent{{"p"}, {"t"}};
  snapshot.error = failure;
  snapshot.failed_strand = 2;
  snapshot.slice_now = snapshot.changed_at;
  snapshot.slice_steps = 12;
  snapshot.counter = 9;
  snapshot.last_event = "e";
  snapshot.trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  return snapshot;
}

// The encoded bytes with another body and a matching checksum.
std::string with_body(const std::string& body) {
  return std::string(snapshot_head) + snapshot_checksum(body) + std::string(snapshot_format_key) + "1" +
         std::string(snapshot_body_key) + body + "}";
}

std::string body_of(const std::string& bytes) {
  const std::size_t at = bytes.find(snapshot_body_key) + snapshot_body_key.size();
  return bytes.substr(at, bytes.size() - at - 1);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Snapshot, EveryFieldSurvivesEncoding) {
  const Snapshot before = rich();
  const std::string bytes = encode_snapshot(before);
  const auto after = decode_snapshot(bytes);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(*after, before);
  EXPECT_EQ(encode_snapshot(*after), bytes);
}

TEST(Snapshot, ItsBytesAreCanonicalJson) {
  const std::string bytes = encode_snapshot(rich());
  const auto value = parse_json(bytes);
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(write_json(*value), bytes);
}

TEST(Snapshot, AnEmptyOneSurvivesToo) {
  Snapshot before;
  before.instance = {"i"};
  const auto after = decode_snapshot(encode_snapshot(before));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(*after, before);
}

TEST(Snapshot, AnyChangedByteIsCorrupt) {
  const std::string bytes = encode_snapshot(rich());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    const auto decoded = decode_snapshot(damaged);
    ASSERT_FALSE(decoded) << "byte " << i;
  }
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    EXPECT_FALSE(decode_snapshot(std::string_view(bytes).substr(0, length)));
  }
  EXPECT_FALSE(decode_snapshot(bytes + " "));
}

TEST(Snapshot, ANewerFormatIsUnsupported) {
  const std::string bytes = replaced(encode_snapshot(rich()), "\"format\":1", "\"format\":3");
  const auto decoded = decode_snapshot(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::unsupported);
}

TEST(Snapshot, WhatDoesNotAddUpIsCorruptAlsoWithAFittingChecksum) {
  const std::string body = body_of(encode_snapshot(rich()));
  ASSERT_TRUE(decode_snapshot(with_body(body)));
  const std::vector<std::pair<std::string, std::string>> damages{
      {R"("status":"suspended")", R"("status":"sleeping")"},
      {R"("status":"suspended")", R"("status":"completed")"},
      {R"("state_version":7)", R"("state_version":-7)"},
      {R"("state_version":7)", R"("state_version":"7")"},
      {R"("state_version":7)", R"("state_version":7,"zzz":1)"},
      {R"("kind":"signal")", R"("kind":"silence")"},
      {R"("since":"2024-01-01T00:00:00Z")", R"("since":"yesterday")"},
      {R"("strand":1)", R"("strand":77)"},
      {R"("waits":["t-1"])", R"("waits":["t-2"])"},
      {R"("waits":["t-1"])", R"("waits":[])"},
      {R"("ready":[2])", R"("ready":[3])"},
      {R"("ready":[2])", R"("ready":["x"])"},
      {R"("parent":1)", R"("parent":5)"},
      {R"("id":2)", R"("id":1)"},
      {R"("counter":9)", R"("counter":1)"},
      {R"("class":"timeout")", R"("class":"tiredness")"},
      {R"("parts":{"p":1})", R"("parts":[])"},
      {R"("instance":"i-1")", R"("instance":null)"},
  };
  for (const auto& [from, to] : damages) {
    const auto decoded = decode_snapshot(with_body(replaced(body, from, to)));
    ASSERT_FALSE(decoded) << from << " -> " << to;
    EXPECT_EQ(decoded.error().code, ErrorCode::corrupt) << to;
  }
}

TEST(Snapshot, TheResumePointerNamesPlaceAndRounds) {
  EXPECT_EQ(resume_pointer(rich().strands[0]), "steps[0].repeat[1]#2");
  EXPECT_EQ(resume_pointer(rich().strands[1]), "steps[0][0]");
}

TEST(Failure, BecomesJsonAndComesBack) {
  const Failure failure{FailureClass::business, "declined", "no", Json::array({1, 2}), 2, "charge", "a.yaml:3:5"};
  const auto again = failure_from_json(to_json(failure));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, failure);
  EXPECT_FALSE(failure_from_json(Json("no")));
  EXPECT_FALSE(failure_from_json(Json::object({{"class", "mood"}})));
  EXPECT_FALSE(failure_from_json(Json::object({{"class", "timeout"}, {"code", 5}})));
}

TEST(Retry, SomeFailuresAreFinal) {
  const auto retryable = [](FailureClass failure_class, const std::string& code) {
    Failure failure;
    failure.failure_class = failure_class;
    failure.code = code;
    return is_retryable(failure);
  };
  for (const char* code : {"connect_failed", "http_408", "http_425", "http_429", "http_500", "http_503", "anything"}) {
    EXPECT_TRUE(retryable(FailureClass::transport, code)) << code;
  }
  for (const char* code : {"no_handler_registered", "http_400", "http_404", "http_422", "http_302"}) {
    EXPECT_FALSE(retryable(FailureClass::transport, code)) << code;
  }
  EXPECT_TRUE(retryable(FailureClass::timeout, "call_timeout"));
  EXPECT_FALSE(retryable(FailureClass::business, "declined"));
  EXPECT_FALSE(retryable(FailureClass::expression, "x"));
  EXPECT_FALSE(retryable(FailureClass::definition, "x"));
  EXPECT_FALSE(retryable(FailureClass::authorization, "x"));
}

TEST(Retry, DelaysGrowToTheCapAndAreTheSameOnReplay) {
  RunIntent run;
  run.id = {"r"};
  run.backoff = Duration::of_seconds(1);
  run.factor = 2;
  run.cap = Duration::of_seconds(5);
  run.jitter = 0;
  EXPECT_EQ(retry_delay(run, 1), Duration::of_seconds(1));
  EXPECT_EQ(retry_delay(run, 2), Duration::of_seconds(2));
  EXPECT_EQ(retry_delay(run, 3), Duration::of_seconds(4));
  EXPECT_EQ(retry_delay(run, 4), Duration::of_seconds(5));
  EXPECT_EQ(retry_delay(run, 100'000), Duration::of_seconds(5));
  run.jitter = 0.5;
  for (int failed = 1; failed < 50; ++failed) {
    const Duration delay = retry_delay(run, failed);
    EXPECT_EQ(delay, retry_delay(run, failed));
    EXPECT_GE(delay, Duration::of_seconds(1));
    EXPECT_LE(delay, Duration::of_ms(7500));
  }
}

}  // namespace
}  // namespace cairn
