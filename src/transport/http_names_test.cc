// DNS answers are under the control of others. Here 127.0.0.1 plays a public address, and 127.0.0.2 on the same port
// plays an address that must not be reached.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <latch>
#include <mutex>

#include "transport/http_transport.h"
#include "transport/testing/scripted_server.h"

namespace cairn {
namespace {

using testing_support::ScriptedServer;

using Addresses = std::vector<std::string>;

class HttpNamesTest : public testing::Test {
 protected:
  HttpNamesTest()
      : public_([](const std::string&, int connection) {
          ScriptedServer::say(connection, ScriptedServer::reply("\"public\""));
        }),
        private_([](const std::string&,
                    int connection) { ScriptedServer::say(connection, ScriptedServer::reply("\"private\"")); },
                 "127.0.0.2", public_.port()),
        client_(*EgressPolicy::make({"127.0.0.1", "http://*"}), {},
                HttpSurroundings{"", [this](const std::string& host) { return resolve(host); }}),
        http_(client_, secrets_) {}

  Addresses resolve(const std::string& host) {
    if (host.starts_with("slow")) {
      ++slow_;
      released_.wait();
      return {"127.0.0.1"};
    }
    const std::lock_guard lock(mutex_);
    asked_.push_back(host);
    if (answers_.empty()) return {};
    Addresses first = answers_.front();
    if (answers_.size() > 1) answers_.pop_front();
    return first;
  }

  std::future<TransportAnswer> begin(const std::string& host) {
    TransportCall call;
    call.run = {"run"};
    call.request = Json::object({{"url", "http://" + host + ":" + std::to_string(public_.port()) + "/"}});
    call.timeout = Duration::of_seconds(60);
    const auto answered = std::make_shared<std::promise<TransportAnswer>>();
    http_.send(std::move(call), [answered](TransportAnswer answer) { answered->set_value(std::move(answer)); });
    return answered->get_future();
  }
  TransportAnswer call(const std::string& host) { return begin(host).get(); }

  // The resolver double returns its answers in order and repeats the last one. It holds back the answer for names that
  // begin with `slow` until the test releases it.
  std::mutex mutex_;
  std::latch released_{1};
  std::atomic<int> slow_ = 0;
  std::deque<Addresses> answers_;
  std::vector<std::string> asked_;
  ScriptedServer public_;
  ScriptedServer private_;
  Secrets secrets_;
  HttpClient client_;
  HttpTransport http_;
};

TEST_F(HttpNamesTest, ANameOfAnAllowedAddressIsCalled) {
  answers_ = {{"127.0.0.1"}};
  const TransportAnswer answer = call("ok.example");
  ASSERT_FALSE(answer.failure) << answer.failure->message;
  EXPECT_EQ(answer.result, Json("public"));
  EXPECT_EQ(asked_, Addresses{"ok.example"});
}

TEST_F(HttpNamesTest, ANameOfAPrivateAddressIsRefused) {
  for (const char* const name : {"metadata.google.internal", "inside.example"}) {
    answers_ = {{"127.0.0.2"}};
    const TransportAnswer answer = call(name);
    ASSERT_TRUE(answer.failure) << name;
    EXPECT_EQ(answer.failure->code, "egress_denied") << name;
  }
  EXPECT_EQ(private_.connections(), 0);
}

TEST_F(HttpNamesTest, ASecondAnswerDoesNotGetAroundIt) {
  answers_ = {{"127.0.0.1"}, {"127.0.0.2"}};
  EXPECT_EQ(call("rebinds.example").result, Json("public"));
  const TransportAnswer again = call("rebinds.example");
  ASSERT_TRUE(again.failure);
  EXPECT_EQ(again.failure->code, "egress_denied");
  EXPECT_EQ(private_.connections(), 0);
}

TEST_F(HttpNamesTest, ANameWithOneForbiddenAddressIsRefusedWhicheverComesFirst) {
  for (const Addresses& mixed : {Addresses{"127.0.0.2", "127.0.0.1"}, Addresses{"127.0.0.1", "127.0.0.2"}}) {
    answers_ = {mixed};
    const TransportAnswer answer = call("mixed.example");
    ASSERT_TRUE(answer.failure) << mixed.front();
    EXPECT_EQ(answer.failure->code, "egress_denied");
  }
  EXPECT_EQ(public_.connections(), 0);
  EXPECT_EQ(private_.connections(), 0);
}

TEST_F(HttpNamesTest, ANameThatDoesNotExistIsAFailedConnection) {
  answers_ = {{}};
  EXPECT_EQ(call("nowhere.example").failure->code, "connect_failed");
}

TEST_F(HttpNamesTest, SlowNamesDelayNoOther) {
  answers_ = {{"127.0.0.1"}};
  std::vector<std::future<TransportAnswer>> slow;
  for (int i = 0; i < 16; ++i) slow.push_back(begin("slow" + std::to_string(i) + ".example"));
  EXPECT_EQ(call("ok.example").result, Json("public"));
  released_.count_down();
  for (auto& one : slow) EXPECT_EQ(one.get().result, Json("public"));
}

TEST_F(HttpNamesTest, CallsForOneNameShareItsLookup) {
  std::vector<std::future<TransportAnswer>> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(begin("slow.example"));
  answers_ = {{"127.0.0.1"}};
  EXPECT_EQ(call("ok.example").result, Json("public"));
  released_.count_down();
  for (auto& one : calls) EXPECT_EQ(one.get().result, Json("public"));
  EXPECT_EQ(slow_, 1);
}

TEST_F(HttpNamesTest, AnAnswerIsUsedAgainForAWhile) {
  std::atomic<int> asked = 0;
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, Addresses>> found;
  std::promise<void> twice;
  const auto resolve = [&asked](const std::string& host) {
    ++asked;
    return host == "gone.example" ? Addresses() : Addresses{"127.0.0.1"};
  };
  NameLookup names(resolve, {std::chrono::hours(1), std::chrono::hours(1)}, [&](std::uint64_t ticket, Addresses list) {
    const std::lock_guard lock(mutex);
    found.emplace_back(ticket, std::move(list));
    if (found.size() == 2) twice.set_value();
  });
  names.ask(1, "ok.example");
  names.ask(2, "gone.example");
  twice.get_future().wait();
  names.ask(3, "ok.example");
  names.ask(4, "gone.example");
  names.stop();
  EXPECT_EQ(asked, 2) << "what was found, and what was not, is known";
  ASSERT_EQ(found.size(), 4u) << "what is known is answered at once";
  EXPECT_EQ(found[2].second, Addresses{"127.0.0.1"});
  EXPECT_TRUE(found[3].second.empty());
}

TEST_F(HttpNamesTest, AnAnswerThatIsOnItsWayArrivesAfterSendingEnded) {
  std::latch received(1);
  ScriptedServer server([&received](const std::string&, int connection) {
    received.count_down();
    char byte = 0;
    while (::recv(connection, &byte, 1, 0) > 0) {
    }
    ScriptedServer::say(connection, ScriptedServer::reply("\"late\""));
  });
  HttpClient client(*EgressPolicy::make({"127.0.0.1", "http://*"}));
  HttpCall call;
  call.method = "POST";
  call.url = server.url();
  call.body = "{}";
  call.has_body = true;
  using Answer = Result<HttpReply, HttpProblem>;
  std::promise<Answer> answered;
  client.send(call, Duration::of_seconds(60), {},
              [&answered](Answer answer) { answered.set_value(std::move(answer)); });
  received.wait();
  client.close_sending();
  const Answer answer = answered.get_future().get();
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->body, "\"late\"");
  std::promise<Answer> refused;
  client.send(call, Duration::of_seconds(60), {}, [&refused](Answer late) { refused.set_value(std::move(late)); });
  EXPECT_EQ(refused.get_future().get().error().kind, HttpProblem::Kind::overloaded);
}

// The client's thread answers a call whose name does not exist. Meanwhile further calls arrive and the client stops.
TEST_F(HttpNamesTest, EveryCallQueuedBeforeTheStopIsAnswered) {
  using Answer = Result<HttpReply, HttpProblem>;
  HttpLimits limits;
  limits.waiting_max = 100'000'000;
  HttpClient client(*EgressPolicy::make({"127.0.0.1", "http://*"}), limits,
                    HttpSurroundings{"", [](const std::string&) { return Addresses(); }});
  // The client's thread uses these until it has ended.
  int sent = 0;
  int answered = 0;
  bool sending = false;
  bool refused = false;
  std::promise<void> stopping;
  std::jthread stopper;
  HttpCall call;
  call.method = "GET";
  call.url = "http://nowhere.example/";
  client.send(call, Duration::of_seconds(60), {}, [&](const Answer&) {
    stopper = std::jthread([&client] { client.stop(); });
    call.url = public_.url();
    while (!refused) {  // until the stop has begun
      ++sent;
      sending = true;
      client.send(call, Duration::of_seconds(60), {}, [&](const Answer&) {
        ++answered;
        refused = sending;  // answered by `send` itself
      });
      sending = false;
    }
    stopping.set_value();
  });
  stopping.get_future().wait();
  stopper.join();
  EXPECT_EQ(answered, sent);
}

TEST_F(HttpNamesTest, AnAddressInTheUrlIsNoName) {
  answers_ = {{"127.0.0.2"}};
  EXPECT_EQ(call("127.0.0.1").result, Json("public"));
  EXPECT_TRUE(asked_.empty());
}

}  // namespace
}  // namespace cairn
