#include "outbox/http_sink.h"

#include <gtest/gtest.h>

#include <mutex>

#include "outbox/cloud_event.h"
#include "outbox/signature.h"
#include "transport/testing/scripted_server.h"

namespace cairn {
namespace {

constexpr Timestamp sent_at = Timestamp::of_unix_ms(1'700'000'000'000);

class SendingToAServer : public testing::Test {
 protected:
  SendingToAServer()
      : server_([this](const std::string& request, int connection) {
          std::string status = "204 No Content";
          {
            const std::lock_guard lock(mutex_);
            for (const std::string& bad : refused_) {
              if (request.find(bad) != std::string::npos) status = "503 Busy\r\nRetry-After: 7";
            }
            requests_.push_back(request);
          }
          const std::string answer = "HTTP/1.1 " + status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
          EXPECT_EQ(::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL),
                    static_cast<ssize_t>(answer.size()));
        }),
        client_(*EgressPolicy::make({"http://127.0.0.1:" + std::to_string(server_.port())})) {}
  ~SendingToAServer() override { client_.stop(); }

  std::vector<SinkAnswer> deliver(HttpSinkSettings::Mode mode, const std::vector<OutboxRow>& rows,
                                  const std::string& secret = {}) {
    HttpSinkSettings settings;
    settings.name = "web";
    settings.url = "http://127.0.0.1:" + std::to_string(server_.port()) + "/hook";
    settings.mode = mode;
    settings.secret = secret;
    settings.source = "/test";
    settings.headers = {{"x-key", "k"}};
    settings.batch_max = 2;
    HttpSink sink(settings, client_, [] { return sent_at; });
    return sink.deliver(rows);
  }
  static OutboxRow row(std::int64_t sequence, const std::string& id, const std::string& subject) {
    OutboxRow made;
    made.sequence = sequence;
    made.event = {{id}, "loan.decided", subject, Json::object({{"n", sequence}})};
    return made;
  }
  static std::string body(const std::string& request) { return request.substr(request.find("\r\n\r\n") + 4); }
  static std::string header(const std::string& request, const std::string& name) {
    const std::size_t at = request.find("\n" + name + ": ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 3;
    return request.substr(begin, request.find('\r', begin) - begin);
  }

  std::mutex mutex_;
  std::vector<std::string> refused_;
  std::vector<std::string> requests_;
  testing_support::ScriptedServer server_;
  HttpClient client_;
};

TEST_F(SendingToAServer, StructuredAndSigned) {
  const std::string secret(40, 'x');
  const auto answers = deliver(HttpSinkSettings::Mode::structured, {row(1, "e1", "s")}, secret);
  ASSERT_EQ(answers[0].kind, SinkAnswer::Kind::taken) << answers[0].error;
  ASSERT_EQ(requests_.size(), 1u);
  EXPECT_TRUE(requests_[0].starts_with("POST /hook HTTP/1.1\r\n"));
  EXPECT_EQ(header(requests_[0], "content-type"), structured_type);
  EXPECT_EQ(header(requests_[0], "x-key"), "k");
  EXPECT_EQ(*parse_json(body(requests_[0])), cloud_event(row(1, "e1", "s"), "/test"));
  const std::string sent = body(requests_[0]);
  EXPECT_TRUE(check_signature(secret, "", header(requests_[0], timestamp_header),
                              header(requests_[0], signature_header),
                              {"hook", {{"content-type", structured_type}}, sent}, sent_at)
                  .has_value());
}

TEST_F(SendingToAServer, TheSignatureCoversTheHeadersOfABinaryEvent) {
  const std::string secret(40, 'x');
  ASSERT_EQ(deliver(HttpSinkSettings::Mode::binary, {row(1, "e1", "s")}, secret)[0].kind, SinkAnswer::Kind::taken);
  const std::string sent = body(requests_[0]);
  SignedRequest request{"hook", {{"content-type", "application/json"}}, sent};
  for (const auto& name : binary_headers(row(1, "e1", "s"), "/test")) {
    if (name.first != "content-type" && is_signed_header(name.first)) request.headers.push_back(name);
  }
  const auto checked = [&] {
    return check_signature(secret, "", header(requests_[0], timestamp_header), header(requests_[0], signature_header),
                           request, sent_at)
        .has_value();
  };
  EXPECT_GT(request.headers.size(), 4u);
  EXPECT_TRUE(checked());
  request.headers.back().second += "x";
  EXPECT_FALSE(checked()) << "a changed attribute";
}

TEST_F(SendingToAServer, Binary) {
  ASSERT_EQ(deliver(HttpSinkSettings::Mode::binary, {row(1, "e1", "s")})[0].kind, SinkAnswer::Kind::taken);
  EXPECT_EQ(header(requests_[0], "ce-id"), "e1");
  EXPECT_EQ(header(requests_[0], "ce-subject"), "s");
  EXPECT_EQ(header(requests_[0], "content-type"), "application/json");
  EXPECT_EQ(header(requests_[0], signature_header), "") << "there is no secret";
  EXPECT_EQ(body(requests_[0]), R"({"n":1})");
}

TEST_F(SendingToAServer, AFailureStopsItsSubject) {
  refused_ = {"\"e1\""};
  const auto answers =
      deliver(HttpSinkSettings::Mode::structured, {row(1, "e1", "s"), row(2, "e2", "s"), row(3, "e3", "t")});
  EXPECT_EQ(answers[0].kind, SinkAnswer::Kind::failed);
  EXPECT_EQ(answers[0].error, "the receiver answered 503");
  EXPECT_EQ(answers[0].retry_after, Duration::of_seconds(7));
  EXPECT_EQ(answers[1].kind, SinkAnswer::Kind::not_tried);
  EXPECT_EQ(answers[2].kind, SinkAnswer::Kind::taken);
}

TEST_F(SendingToAServer, ManySubjectsKeepTheirOrder) {
  std::vector<OutboxRow> rows;
  for (int i = 0; i < 200; ++i) rows.push_back(row(i, "e" + std::to_string(i), "s" + std::to_string(i % 50)));
  for (const SinkAnswer& answer : deliver(HttpSinkSettings::Mode::structured, rows)) {
    EXPECT_EQ(answer.kind, SinkAnswer::Kind::taken) << answer.error;
  }
  std::map<std::string, std::int64_t> last;
  for (const std::string& request : requests_) {
    const Json event = *parse_json(body(request));
    const std::int64_t number = event["data"]["n"].as_integer();
    const std::string subject(event.text_or("subject", ""));
    EXPECT_TRUE(!last.contains(subject) || last[subject] < number) << subject;
    last[subject] = number;
  }
  EXPECT_EQ(requests_.size(), 200u);
}

TEST_F(SendingToAServer, Batched) {
  const auto answers =
      deliver(HttpSinkSettings::Mode::batched, {row(1, "e1", "s"), row(2, "e2", "s"), row(3, "e3", "t")});
  for (const SinkAnswer& answer : answers) EXPECT_EQ(answer.kind, SinkAnswer::Kind::taken) << answer.error;
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_EQ(header(requests_[0], "content-type"), batch_type);
  EXPECT_EQ(parse_json(body(requests_[0]))->size(), 2u);
}

TEST_F(SendingToAServer, ABatchThatFailsIsTheLast) {
  refused_ = {"\"e1\""};
  const auto answers =
      deliver(HttpSinkSettings::Mode::batched, {row(1, "e1", "s"), row(2, "e2", "t"), row(3, "e3", "t")});
  EXPECT_EQ(answers[0].kind, SinkAnswer::Kind::failed);
  EXPECT_EQ(answers[1].kind, SinkAnswer::Kind::failed);
  EXPECT_EQ(answers[2].kind, SinkAnswer::Kind::not_tried);
}

TEST_F(SendingToAServer, AStoppedSinkAnswersAtOnce) {
  for (const auto mode :
       {HttpSinkSettings::Mode::structured, HttpSinkSettings::Mode::binary, HttpSinkSettings::Mode::batched}) {
    HttpSinkSettings settings;
    settings.url = "http://127.0.0.1:" + std::to_string(server_.port()) + "/hook";
    settings.mode = mode;
    HttpSink sink(settings, client_, [] { return sent_at; });
    sink.stop();
    const std::vector<OutboxRow> rows{row(1, "e1", "s"), row(2, "e2", "t")};
    for (const SinkAnswer& answer : sink.deliver(rows)) EXPECT_EQ(answer.kind, SinkAnswer::Kind::not_tried);
  }
  EXPECT_TRUE(requests_.empty());
}

TEST_F(SendingToAServer, ThePolicyHoldsForSinksToo) {
  HttpClient strict{EgressPolicy()};
  HttpSinkSettings settings;
  settings.url = "http://127.0.0.1:" + std::to_string(server_.port()) + "/hook";
  HttpSink sink(settings, strict, [] { return sent_at; });
  const std::vector<OutboxRow> rows{row(1, "e1", "s")};
  EXPECT_EQ(sink.deliver(rows)[0].kind, SinkAnswer::Kind::failed);
  EXPECT_TRUE(requests_.empty());
  strict.stop();
}

}  // namespace
}  // namespace cairn
