#include "outbox/cloud_event.h"

#include <gtest/gtest.h>

#include "instance/carried_trace.h"

namespace cairn {
namespace {

OutboxRow row() {
  OutboxRow made;
  made.sequence = 12;
  made.instance = {"i-1"};
  made.event = {{"e-1"}, "loan.decided", "L \"1\" é", Json::object({{"ok", true}})};
  made.created_at = Timestamp::of_unix_ms(1'700'000'000'000);
  return made;
}

TEST(CloudEvent, HasEveryRequiredAttribute) {
  EXPECT_EQ(write_json(cloud_event(row(), "/cairn")),
            R"({"data":{"ok":true},"datacontenttype":"application/json","id":"e-1","instance":"i-1","sequence":"12",)"
            R"("source":"/cairn","specversion":"1.0","subject":"L \"1\" é","time":"2023-11-14T22:13:20Z",)"
            R"("traceparent":"00-f105b11df43d5d321f5c773ef904af97-b94f523196aaacd8-01","type":"loan.decided"})");
}

TEST(CloudEvent, LeavesOutWhatIsNotThere) {
  OutboxRow bare = row();
  bare.event.subject.clear();
  bare.instance = {};
  const Json event = cloud_event(bare, "/cairn");
  EXPECT_EQ(event.find("subject"), nullptr);
  EXPECT_EQ(event.find("instance"), nullptr);
  EXPECT_EQ(event.find("traceparent"), nullptr);
}

TEST(CloudEvent, GoesOnWithTheTraceThatItCarries) {
  OutboxRow carrying = row();
  carrying.event.data = with_trace(carrying.event.data, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
  const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b94f523196aaacd8-00";
  const Json event = cloud_event(carrying, "/cairn");
  EXPECT_EQ(event["traceparent"], Json(trace));
  EXPECT_EQ(event["data"], Json::object({{"ok", true}}));
  const EventHeaders headers = binary_headers(carrying, "/cairn");
  EXPECT_EQ(headers.back(), std::pair(std::string("ce-traceparent"), trace));
  carrying.instance = {};  // a standalone run
  EXPECT_EQ(cloud_event(carrying, "/cairn")["traceparent"], Json(trace));
}

TEST(CloudEvent, BinaryHeadersAreEscapedAndReadBack) {
  const EventHeaders headers = binary_headers(row(), "/cairn");
  std::string subject;
  for (const auto& [name, value] : headers) {
    if (name == "ce-subject") subject = value;
    for (const char c : value) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << name;
  }
  EXPECT_EQ(subject, "L%20%221%22%20%C3%A9");
  const auto read = read_cloud_events(headers, R"({"ok":true})");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(read->front().subject, Json("L \"1\" é"));
  EXPECT_EQ(read->front().data, Json::object({{"ok", true}}));
  EXPECT_EQ(read->front().unique_id(), "/cairn e-1");
  InboundEvent longer = read->front();
  longer.source = "https://" + std::string(200, 's');
  EXPECT_EQ(longer.unique_id().substr(0, 7), "sha256:");
  EXPECT_EQ(longer.unique_id().size(), 71u) << "as long as a signal's id may be";
  InboundEvent other = longer;
  other.id += "2";
  EXPECT_NE(longer.unique_id(), other.unique_id());
}

TEST(CloudEvent, EveryModeIsRead) {
  const std::string one = write_json(cloud_event(row(), "/x"));
  EXPECT_EQ(read_cloud_events({{"content-type", "application/cloudevents+json; charset=utf-8"}}, one)->size(), 1u);
  EXPECT_EQ(read_cloud_events({{"content-type", "application/json"}}, one)->size(), 1u);
  EXPECT_EQ(
      read_cloud_events({{"content-type", "application/cloudevents-batch+json"}}, "[" + one + "," + one + "]")->size(),
      2u);
  const auto text = read_cloud_events(
      {{"content-type", "text/plain"}, {"ce-specversion", "1.0"}, {"ce-id", "1"}, {"ce-source", "s"}, {"ce-type", "t"}},
      "hello \"you\"");
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(text->front().data, Json("hello \"you\""));
}

TEST(CloudEvent, WhatIsWrongIsNamed) {
  const auto fault = [](const std::string& body, const EventHeaders& headers = {}) {
    const auto read = read_cloud_events(headers, body);
    return read ? "nothing" : read.error().message;
  };
  EXPECT_EQ(fault("{}"), "the CloudEvent has no `specversion`");
  EXPECT_EQ(fault(R"({"specversion":"0.3"})"), "the CloudEvent has specversion 0.3; only 1.0 is supported");
  EXPECT_EQ(fault(R"({"specversion":"1.0","id":"","source":"s","type":"t"})"), "the CloudEvent has no `id`");
  EXPECT_EQ(fault(R"({"specversion":"1.0","id":"1","source":"s","type":"t","subject":4})"),
            "the CloudEvent has no `subject`");
  EXPECT_EQ(fault(R"({"specversion":"1.0","id":"1","source":"s","type":"t","data_base64":"AA=="})"),
            "the CloudEvent has binary data; send JSON");
  EXPECT_EQ(fault("[]"), "the CloudEvent must be an object");
  EXPECT_EQ(fault("{}", {{"content-type", batch_type}}), "a batch of CloudEvents must be a list");
  EXPECT_NE(fault("not json"), "nothing");
}

TEST(CloudEvent, EncodedHeadersThatAreNotUtf8AreRefused) {
  const auto fault = [](const std::string& id) {
    const auto read = read_cloud_events(
        {{"ce-specversion", "1.0"}, {"ce-id", id}, {"ce-source", "s"}, {"ce-type", "t"}, {"ce-subject", "x"}}, "");
    return read ? "nothing" : read.error().message;
  };
  EXPECT_EQ(fault("a%C3%A4"), "nothing");
  EXPECT_EQ(fault("a%FF"), "the CloudEvent has a `ce-id` that is not UTF-8");
  EXPECT_EQ(fault("a%00"), "the CloudEvent has a `ce-id` that is not UTF-8");
  EXPECT_EQ(fault("a%ED%A0%80"), "the CloudEvent has a `ce-id` that is not UTF-8") << "a surrogate";
}

}  // namespace
}  // namespace cairn
