#include "server/http_server.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "server/socket_client_test.h"

namespace cairn::server {
namespace {

class Http : public testing::Test {
 protected:
  void serve(Handler handler, HttpSettings settings = {}) {
    settings.port = 0;
    auto listening = HttpServer::listen(settings, std::move(handler));
    ASSERT_TRUE(listening) << listening.error().message;
    server = std::move(*listening);
  }
  static void echo(Request request, Reply reply) {
    std::string body = request.method + " " + request.path;
    for (const auto& [name, value] : request.query) body += " " + name + "=" + value;
    reply({200, "text/plain", {}, body + " " + request.body});
  }
  std::string ask(std::string_view text) const {
    const Client client(server->port());
    client.send(text);
    return client.receive_all();
  }
  std::unique_ptr<HttpServer> server;
};

TEST_F(Http, ARequestIsDecodedAndAnswered) {
  serve(echo);
  const std::string answer =
      ask("POST /a%20b?x=1%262&y=a+b HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_NE(answer.find("HTTP/1.1 200 OK"), std::string::npos) << answer;
  EXPECT_NE(answer.find("POST /a b x=1&2 y=a b hi"), std::string::npos) << answer;
}

TEST_F(Http, PipelinedRequestsAreAnsweredInOrder) {
  serve(echo);
  const std::string answer =
      ask("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: "
          "h\r\nConnection: close\r\n\r\n");
  const std::size_t first = answer.find("GET /1");
  const std::size_t second = answer.find("GET /2");
  const std::size_t third = answer.find("GET /3");
  ASSERT_NE(third, std::string::npos) << answer;
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST_F(Http, AnyNumberOfPipelinedRequestsTakesNoMoreStack) {
  std::atomic<int> answered{0};
  serve([&answered](const Request&, const Reply& reply) {
    ++answered;
    reply({200, "text/plain", {}, ""});
  });
  constexpr int count = 30'000;
  const Client client(server->port());
  std::thread sender([&client] {
    std::string requests;
    for (int i = 1; i < count; ++i) requests += "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    client.send(requests + "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  });
  client.receive_all();
  sender.join();
  EXPECT_EQ(answered, count);
}

TEST_F(Http, AClientThatNeverWaitsDoesNotKeepTheOthersFromTheirAnswers) {
  HttpSettings settings;
  settings.threads = 1;
  serve(echo, settings);
  auto hog = std::make_unique<Client>(server->port());
  std::atomic<bool> over{false};
  std::thread sends([&] {
    std::string requests;
    for (int i = 0; i < 100; ++i) requests += "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    while (!over) hog->send(requests);
  });
  std::thread takes([&] { hog->receive_all(); });
  for (int i = 0; i < 10; ++i) {
    const std::string answer = ask("GET /mine HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_NE(answer.find("GET /mine"), std::string::npos);
  }
  over = true;
  sends.join();
  hog->hang_up();
  takes.join();
}

TEST_F(Http, WhatTwoParsersCouldReadInTwoWaysIsRefused) {
  serve(echo);
  for (const char* text :
       {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET nowhere HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        "GET /%00 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "nonsense\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n folded: x\r\n\r\n"}) {
    const Client client(server->port());
    client.send(text);
    const std::string answer = client.receive_until("\r\n\r\n");
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 400") << text << answer;
  }
}

TEST_F(Http, LimitsOnHeadAndBodyAnswerBeforeReadingOn) {
  HttpSettings settings;
  settings.body_bytes_max = 100;
  serve(echo, settings);
  EXPECT_NE(ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n").find("413"), std::string::npos);
  EXPECT_NE(ask("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'x') +
                "\r\n0\r\n\r\n")
                .find("413"),
            std::string::npos);
  EXPECT_NE(ask("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n").find("431"),
            std::string::npos);
}

TEST_F(Http, AClientThatNeverEndsItsHeadIsCutOff) {
  HttpSettings settings;
  settings.head_timeout = std::chrono::milliseconds(50);
  serve(echo, settings);
  EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: h\r\nX-Slow"), "");
}

TEST_F(Http, AHandlerThatForgetsItsReplyAnswers500) {
  serve([](Request, Reply) {});
  EXPECT_NE(ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").find("500"), std::string::npos);
}

TEST_F(Http, AnAnswerMayComeLaterFromAnotherThread) {
  std::promise<Reply> waiting;
  serve([&waiting](Request, Reply reply) { waiting.set_value(std::move(reply)); });
  const Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  std::thread other([&waiting] { waiting.get_future().get()({200, "text/plain", {}, "late"}); });
  EXPECT_NE(client.receive_all().find("late"), std::string::npos);
  other.join();
}

// Answers every request from a thread of its own.
class Elsewhere {
 public:
  ~Elsewhere() {
    std::vector<std::thread> threads;
    {
      const std::scoped_lock lock(mutex_);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }
  Handler handler(std::string body) {
    return [this, body](const Request& request, Reply reply) {
      const std::scoped_lock lock(mutex_);
      threads_.emplace_back([reply = std::move(reply), text = request.path + body] {
        reply({200, "text/plain", {}, text});
      });
    };
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

TEST_F(Http, PipelinedRequestsGoOnWhenOthersAnswerThem) {
  Elsewhere elsewhere;
  serve(elsewhere.handler("."));
  const Client client(server->port());
  std::string requests;
  for (int i = 0; i < 20; ++i) requests += "GET /r" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
  client.send(requests);
  const std::string answers = client.receive_until("/r19.");
  std::size_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const std::size_t at = answers.find("/r" + std::to_string(i) + ".");
    ASSERT_NE(at, std::string::npos) << i;
    EXPECT_GE(at, last);
    last = at;
  }
}

TEST_F(Http, AnAnswerLargerThanTheSocketTakesAtOnceArrivesWhole) {
  Elsewhere elsewhere;
  serve(elsewhere.handler(std::string(8u << 20, 'x')));
  const Client client(server->port());
  client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const std::string answers = client.receive_all();
  EXPECT_NE(answers.find("\r\n\r\n/ax"), std::string::npos);
  const std::size_t second = answers.find("\r\n\r\n/bx");
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(answers.size() - second, 4 + 2 + (8u << 20));
}

TEST_F(Http, AClientThatHasClosedItsSideStillGetsAnAnswerThatIsQuick) {
  std::promise<Reply> waiting;
  HttpSettings settings;
  settings.unwatched = std::chrono::hours(1);
  serve([&waiting](const Request&, Reply reply) { waiting.set_value(std::move(reply)); }, settings);
  const Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  client.finish();
  waiting.get_future().get()({200, "text/plain", {}, "all the same"});
  EXPECT_NE(client.receive_all().find("all the same"), std::string::npos);
}

TEST_F(Http, DrainingClosesAConnectionThatSomebodyElseHasAnswered) {
  Elsewhere elsewhere;
  serve(elsewhere.handler("."));
  const Client client(server->port());
  client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(client.receive_until("/a.").find("/a."), std::string::npos);
  server->drain(std::chrono::seconds(10));
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_EQ(client.receive_all(), "");
}

TEST_F(Http, AConnectionThatSomebodyElseHasAnsweredIsIdleFromThenOn) {
  Elsewhere elsewhere;
  HttpSettings settings;
  settings.idle_timeout = std::chrono::milliseconds(50);
  serve(elsewhere.handler("."), settings);
  const Client client(server->port());
  client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(client.receive_all().find("/a."), std::string::npos);
}

TEST_F(Http, AHandlerThatTakesTooLongIsAnsweredFor) {
  std::promise<Reply> waiting;
  HttpSettings settings;
  settings.answer_timeout = std::chrono::milliseconds(50);
  serve([&waiting](const Request&, Reply reply) { waiting.set_value(std::move(reply)); }, settings);
  const Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const Reply late = waiting.get_future().get();
  EXPECT_NE(client.receive_until("too long").find("503"), std::string::npos);
  late({200, "text/plain", {}, "late"});  // dropped
}

TEST_F(Http, WhoeverAnswersLaterLearnsThatTheClientHungUp) {
  std::promise<Reply> waiting;
  serve([&waiting](Request, Reply reply) { waiting.set_value(std::move(reply)); });
  auto client = std::make_unique<Client>(server->port());
  client->send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const Reply reply = waiting.get_future().get();
  EXPECT_TRUE(reply.listening());
  client.reset();
  while (reply.listening()) std::this_thread::yield();
  while (server->connections() > 0) std::this_thread::yield();
  reply({200, "text/plain", {}, "nobody"});  // dropped
}

TEST_F(Http, AStreamSendsWhatComesUntilOneSideCloses) {
  std::promise<EventStream> opened;
  serve([&opened](Request, const Reply& reply) {
    Response response(200, "text/event-stream", {}, "");
    response.stream = [&opened](const EventStream& events) { opened.set_value(events); };
    reply(std::move(response));
  });
  const Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const EventStream events = opened.get_future().get();
  EXPECT_TRUE(events.send("data: 1\n\n"));
  const std::string first = client.receive_until("data: 1");
  EXPECT_NE(first.find("transfer-encoding: chunked"), std::string::npos) << first;
  EXPECT_TRUE(events.send("data: 2\n\n"));
  EXPECT_NE(client.receive_until("data: 2").find("data: 2"), std::string::npos);
  std::promise<void> drained;
  events.on_drained([&drained] { drained.set_value(); });
  drained.get_future().get();
  EXPECT_EQ(events.waiting_bytes(), 0u);
  events.close();
  EXPECT_FALSE(events.open());
  EXPECT_FALSE(events.send("late"));
  EXPECT_TRUE(client.receive_all().ends_with("0\r\n\r\n"));
}

TEST_F(Http, WhoHangsUpWhileWaitingIsMissedAtOnceWhereItMatters) {
  HttpSettings settings;
  settings.unwatched = std::chrono::hours(1);
  settings.watched = [](const Request& request) { return request.path == "/poll"; };
  std::promise<Reply> asked;
  serve([&asked](const Request&, const Reply& reply) { asked.set_value(reply); }, settings);
  std::optional<Reply> waiting;
  {
    const Client client(server->port());
    client.send("POST /poll HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
    waiting = asked.get_future().get();
    EXPECT_TRUE(waiting->listening());
  }
  while (waiting->listening()) std::this_thread::yield();
}

TEST_F(Http, AStreamEndsWhenItsClientHangsUpOrTheServerDrains) {
  std::promise<EventStream> opened[2];
  std::atomic<int> count{0};
  serve([&](Request, const Reply& reply) {
    Response response(200, "text/event-stream", {}, "");
    response.stream = [&](const EventStream& events) { opened[count++].set_value(events); };
    reply(std::move(response));
  });
  std::optional<EventStream> gone;
  {
    const Client client(server->port());
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    gone = opened[0].get_future().get();
  }
  while (gone->open()) std::this_thread::yield();
  const Client stays(server->port());
  stays.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const EventStream second = opened[1].get_future().get();
  server->drain(std::chrono::seconds(10));
  EXPECT_FALSE(second.open());
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(Http, ASilentStreamIsKeptAliveWithComments) {
  HttpSettings settings;
  settings.stream_beat = std::chrono::milliseconds(5);
  std::promise<EventStream> opened;
  serve(
      [&opened](Request, const Reply& reply) {
        Response response(200, "text/event-stream", {}, "");
        response.stream = [&opened](const EventStream& events) { opened.set_value(events); };
        reply(std::move(response));
      },
      settings);
  const Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const EventStream events = opened.get_future().get();
  EXPECT_NE(client.receive_until(":\n\n").find(":\n\n"), std::string::npos);
}

TEST_F(Http, AClientThatDoesNotReadItsStreamIsCutOff) {
  HttpSettings settings;
  settings.stream_bytes_max = 1u << 20;
  std::promise<EventStream> opened;
  serve(
      [&opened](Request, const Reply& reply) {
        Response response(200, "text/event-stream", {}, "");
        response.stream = [&opened](const EventStream& events) { opened.set_value(events); };
        reply(std::move(response));
      },
      settings);
  const Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const EventStream events = opened.get_future().get();
  const std::string text(64u << 10, 'x');
  int sent = 0;
  while (events.send(text) && sent < 10'000) ++sent;
  EXPECT_LT(sent, 10'000);
  EXPECT_FALSE(events.open());
}

TEST_F(Http, DrainingFinishesWhatIsUnderWayAndTakesNothingNew) {
  std::promise<Reply> waiting;
  serve([&waiting](Request, Reply reply) { waiting.set_value(std::move(reply)); });
  const Client idle(server->port());
  const Client busy(server->port());
  busy.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  Reply reply = waiting.get_future().get();
  std::thread answer([&busy, &reply] {
    reply({200, "text/plain", {}, "done"});
    EXPECT_NE(busy.receive_all().find("done"), std::string::npos);
  });
  server->drain(std::chrono::seconds(10));
  answer.join();
  EXPECT_EQ(idle.receive_all(), "");
  EXPECT_FALSE(Client(server->port() == 0 ? 1 : server->port()).connected());
}

TEST_F(Http, ATakenPortIsAClearError) {
  serve(echo);
  HttpSettings settings;
  settings.port = server->port();
  const auto second = HttpServer::listen(settings, echo);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another server?"), std::string::npos) << second.error().message;
}

}  // namespace
}  // namespace cairn::server
