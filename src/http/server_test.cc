#include "http/server.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "http/response_slot.h"
#include "http/socket_client_test.h"

namespace cairn::http {

struct KnownCaller {};  // the server passes it on and does not read it

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
  // Answers one request with a stream.
  void serve_stream(const HttpSettings& settings = {}) {
    serve(
        [this](Request, const Reply& reply) {
          Response response(200, "text/event-stream", {}, "");
          response.stream = [this](const EventStream& events) { opened.set_value(events); };
          reply(std::move(response));
        },
        settings);
  }
  EventStream open_stream(const Client& client) {
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    return opened.get_future().get();
  }
  std::promise<EventStream> opened;
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

// Answers every request from its own thread.
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
  serve_stream();
  const Client client(server->port());
  const EventStream events = open_stream(client);
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
  std::promise<EventStream> both[2];
  std::atomic<int> count{0};
  serve([&](Request, const Reply& reply) {
    Response response(200, "text/event-stream", {}, "");
    response.stream = [&](const EventStream& events) { both[count++].set_value(events); };
    reply(std::move(response));
  });
  std::optional<EventStream> gone;
  {
    const Client client(server->port());
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    gone = both[0].get_future().get();
  }
  while (gone->open()) std::this_thread::yield();
  const Client stays(server->port());
  stays.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const EventStream second = both[1].get_future().get();
  server->drain(std::chrono::seconds(10));
  EXPECT_FALSE(second.open());
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(Http, ASilentStreamIsKeptAliveWithComments) {
  HttpSettings settings;
  settings.stream_beat = std::chrono::milliseconds(5);
  serve_stream(settings);
  const Client client(server->port());
  const EventStream events = open_stream(client);
  EXPECT_NE(client.receive_until(":\n\n").find(":\n\n"), std::string::npos);
}

TEST_F(Http, AClientThatDoesNotReadItsStreamIsCutOff) {
  HttpSettings settings;
  settings.stream_bytes_max = 1u << 20;
  serve_stream(settings);
  const Client client(server->port());
  const EventStream events = open_stream(client);
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

// --- Requests that end early

TEST_F(Http, ARequestThatIsCutAnywhereEndsItsConnection) {
  HttpSettings settings;
  settings.threads = 1;
  serve(echo, settings);
  const std::string requests[] = {
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nX-After: 1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello",
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
      "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"};
  for (const std::string& request : requests) {
    for (std::size_t cut = 0; cut < request.size(); ++cut) {
      {
        const Client closes(server->port());
        closes.send(std::string_view(request).substr(0, cut));
      }
      const Client half(server->port());
      half.send(std::string_view(request).substr(0, cut));
      half.finish();
      half.receive_all();
    }
  }
  // One thread has all connections: it could not answer if one of them blocked it.
  EXPECT_NE(ask("GET /after HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").find("GET /after"), std::string::npos);
  while (server->connections() > 0) std::this_thread::yield();
}

TEST_F(Http, ABodyThatEndsEarlyIsRefusedToWhoStillReads) {
  serve(echo);
  const Client client(server->port());
  client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5");
  client.finish();
  EXPECT_EQ(client.receive_all().substr(0, 12), "HTTP/1.1 400");
}

// --- Bodies

TEST_F(Http, AChunkedBodyMayArriveByteByByte) {
  HttpSettings settings;
  settings.threads = 1;
  serve(echo, settings);
  for (const std::string_view body : {"0\r\n\r\n", "0;a=b\r\n\r\n", "1\r\nx\r\n0\r\n\r\n", "0\r\nX-After: 1\r\n\r\n"}) {
    const Client client(server->port());
    client.send("POST /slow HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char byte : body) {
      client.send(std::string_view(&byte, 1));
      // The only thread has read the byte once it answers a later request.
      EXPECT_NE(ask("GET /after HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").find("GET /after"),
                std::string::npos);
    }
    EXPECT_NE(client.receive_all().find("POST /slow"), std::string::npos) << body;
  }
}

TEST_F(Http, TrailersAreNotHeaders) {
  std::promise<Request> seen;
  serve([&seen](Request request, const Reply& reply) {
    seen.set_value(std::move(request));
    reply({200, "text/plain", {}, ""});
  });
  ask("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
      "Authorization: Bearer x\r\n\r\n");
  const Request request = seen.get_future().get();
  EXPECT_EQ(request.body, "hi");
  EXPECT_EQ(request.header("authorization"), "");
}

TEST_F(Http, AnEncodedSlashSeparatesNothing) {
  std::string path;
  EXPECT_TRUE(decode_path("/a%2Fb/%2f%252F%41%20", path));
  EXPECT_EQ(path, "/a%2Fb/%2F%252FA ");
  EXPECT_EQ(path_value("a%2Fb"), "a/b");
  EXPECT_EQ(path_value("%2F%252FA "), "/%2FA ");
  EXPECT_FALSE(decode_path("/%", path));
  EXPECT_FALSE(decode_path("/%2", path));
  EXPECT_FALSE(decode_path("/%ff", path));
  EXPECT_FALSE(decode_path("/%00", path));
}

TEST_F(Http, WhoSendsTooMuchReadsThatItIsTooMuch) {
  HttpSettings settings;
  settings.body_bytes_max = 1u << 20;
  serve(echo, settings);
  // Four times the limit, sent before anything is read, as simple clients do.
  const std::string body(4u << 20, 'x');
  for (int i = 0; i < 5; ++i) {
    const std::string answer =
        ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 413");
    EXPECT_NE(answer.find("\"limit\":\"http.body_bytes_max\",\"limit_value\":1048576"), std::string::npos) << answer;
  }
}

// Admits callers with `X-Key`; for `X-Later` it decides later and from another thread.
Admit by_key(std::vector<std::thread>& threads) {
  return [&threads](const Request& head, const std::function<void(Admission)>& decide) {
    Admission admission;
    if (head.header("x-key").empty()) {
      if (head.header("x-hook").empty()) admission.refusal = Response(401, "text/plain", {}, "who?");
    } else {
      admission.caller = std::make_shared<const KnownCaller>();
    }
    if (head.header("x-later").empty()) return decide(admission);
    threads.emplace_back([decide, admission] { decide(admission); });
  };
}

TEST_F(Http, ABodyIsReadOnlyFromWhoMaySendIt) {
  std::vector<std::thread> threads;
  HttpSettings settings;
  settings.unknown_body_bytes_max = 1000;
  settings.admit = by_key(threads);
  serve(echo, settings);
  const std::string body(1001, 'x');
  const std::string length = "Content-Length: 1001\r\nConnection: close\r\n\r\n";
  {
    const Client client(server->port());  // the client sends no body and still gets the answer
    client.send("POST / HTTP/1.1\r\nHost: h\r\n" + length);
    EXPECT_NE(client.receive_all().find("who?"), std::string::npos);
  }
  {
    const Client client(server->port());
    client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n" + length);
    EXPECT_EQ(client.receive_all().substr(0, 12), "HTTP/1.1 401");
  }
  EXPECT_EQ(ask("POST / HTTP/1.1\r\nHost: h\r\nX-Hook: 1\r\n" + length + body).substr(0, 12), "HTTP/1.1 413");
  EXPECT_NE(ask("POST / HTTP/1.1\r\nHost: h\r\nX-Key: 1\r\n" + length + body).find(body), std::string::npos);
  EXPECT_NE(ask("POST / HTTP/1.1\r\nHost: h\r\nX-Key: 1\r\nX-Later: 1\r\n" + length + body).find(body),
            std::string::npos);
  {
    const Client client(server->port());  // chunks; the first one arrives with the head
    client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n");
    EXPECT_NE(client.receive_all().find("who?"), std::string::npos);
  }
  server.reset();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Http, AllBodiesTogetherHaveALimit) {
  HttpSettings settings;
  settings.bodies_bytes_max = 10'000;
  settings.body_bytes_max = 8'000;
  std::promise<Reply> waiting;
  std::promise<Request> first;
  std::atomic<int> count{0};
  serve(
      [&](Request request, const Reply& reply) {
        if (++count > 1) return reply({200, "text/plain", {}, "taken"});
        first.set_value(std::move(request));
        waiting.set_value(reply);
      },
      settings);
  const auto request = [](std::size_t size) {
    return "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'x');
  };
  const Client holds(server->port());
  holds.send(request(8'000));
  auto held = std::make_unique<Request>(first.get_future().get());
  EXPECT_EQ(server->body_bytes(), 8'000u);
  const std::string refused = ask(request(2'001));
  EXPECT_EQ(refused.substr(0, 12), "HTTP/1.1 503") << refused;
  EXPECT_NE(refused.find("retry-after: 1"), std::string::npos) << refused;
  EXPECT_NE(ask(request(2'000)).find("taken"), std::string::npos);
  held.reset();
  while (server->body_bytes() > 0) std::this_thread::yield();
  EXPECT_NE(ask(request(8'000)).find("taken"), std::string::npos);
  waiting.get_future().get()({200, "text/plain", {}, "done"});
}

// --- Timeouts

TEST_F(Http, AKeptConnectionHasItsTimesFromTheNextRequestOn) {
  Elsewhere elsewhere;
  HttpSettings settings;
  settings.idle_timeout = std::chrono::milliseconds(200);
  settings.body_timeout = std::chrono::hours(1);
  serve(elsewhere.handler("."), settings);
  const Client client(server->port());
  client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(client.receive_until("/a.").find("/a."), std::string::npos);
  client.send("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nh");
  // Another connection idles for the same time after this: when it is closed, the old deadline of the first one has
  // passed too.
  EXPECT_EQ(ask(""), "");
  EXPECT_EQ(ask(""), "");
  client.send("i");
  EXPECT_NE(client.receive_until("/b.").find("/b."), std::string::npos);
}

TEST_F(Http, AKeptConnectionIsCutWhenItsNextHeadNeverEnds) {
  Elsewhere elsewhere;
  HttpSettings settings;
  settings.idle_timeout = std::chrono::hours(1);
  settings.head_timeout = std::chrono::milliseconds(50);
  serve(elsewhere.handler("."), settings);
  const Client client(server->port());
  client.send("GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(client.receive_until("/a.").find("/a."), std::string::npos);
  // The next head begins when the time for the first one is over: another connection was closed for it.
  const Client other(server->port());
  other.send("GET /c HT");
  EXPECT_EQ(other.receive_all(), "");
  client.send("GET /b HT");
  EXPECT_EQ(client.receive_all(), "");
}

// --- Answers that come at the last moment

TEST(ResponseSlot, WhoeverClosesItKnowsWhetherItWasAnswered) {
  struct Nobody final : ResponseSlot::Bell {
    void ring() override {}
  } nobody;
  std::atomic<bool> leaving{false};
  ResponseSlot::Terms terms;
  terms.leaving = &leaving;
  ResponseSlot answered(terms, nobody);
  answered.give({200, "text/plain", {}, "in time"});
  EXPECT_EQ(answered.close(), ResponseSlot::Progress::given);
  EXPECT_NE(answered.take().text.find("in time"), std::string::npos);
  ResponseSlot closed(terms, nobody);
  EXPECT_EQ(closed.close(), ResponseSlot::Progress::waiting);
  EXPECT_TRUE(closed.gone);
  bool undelivered = false;
  Response late(200, "text/plain", {}, "late");
  late.receipt = std::make_shared<ResponseReceipt>([&undelivered] { undelivered = true; });
  closed.give(std::move(late));
  EXPECT_TRUE(undelivered);
  EXPECT_EQ(closed.progress(), ResponseSlot::Progress::waiting);
}

TEST_F(Http, WhatCannotBeDeliveredIsTakenBack) {
  HttpSettings settings;
  settings.watched = [](const Request&) { return true; };
  std::promise<Reply> asked;
  serve([&asked](const Request&, const Reply& reply) { asked.set_value(reply); }, settings);
  std::optional<Reply> reply;
  {
    const Client client(server->port());
    // Pipelined data follows: the disconnect is detected nevertheless.
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /more HTTP/1.1\r\nHost: h\r\n\r\n");
    reply = asked.get_future().get();
  }
  while (reply->listening()) std::this_thread::yield();
  std::atomic<bool> undelivered{false};
  Response response(200, "text/plain", {}, "for nobody");
  response.receipt = std::make_shared<ResponseReceipt>([&undelivered] { undelivered = true; });
  (*reply)(std::move(response));
  EXPECT_TRUE(undelivered);
}

// --- Draining

TEST_F(Http, AnnouncingADrainClosesConnectionsWithTheirAnswers) {
  serve(echo);
  const Client kept(server->port());
  kept.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(kept.receive_until("GET /1").find("connection: close"), std::string::npos);
  server->announce_drain();
  kept.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(kept.receive_all().find("connection: close"), std::string::npos);
  EXPECT_NE(ask("GET /3 HTTP/1.1\r\nHost: h\r\n\r\n").find("GET /3"), std::string::npos);
}

TEST_F(Http, WhoIsConnectedWhenTheServerDrainsGetsAnAnswer) {
  serve(echo);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(std::make_unique<Client>(server->port()));
  std::thread drains([this] { server->drain(std::chrono::seconds(20)); });
  for (const auto& client : clients) client->send("GET /late HTTP/1.1\r\nHost: h\r\n\r\n");
  for (const auto& client : clients) EXPECT_NE(client->receive_all().find("GET /late"), std::string::npos);
  drains.join();
}

TEST_F(Http, ATakenPortIsAClearError) {
  serve(echo);
  HttpSettings settings;
  settings.port = server->port();
  const auto second = HttpServer::listen(settings, echo);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("is another server running?"), std::string::npos) << second.error().message;
}

}  // namespace
}  // namespace cairn::http
