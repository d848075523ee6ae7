#include "server/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <thread>

namespace cairn::server {
namespace {

// A plain socket: what is sent is exactly what the test says.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void send(std::string_view text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Everything until the server closes.
  std::string receive_all() const {
    std::string all;
    char chunk[4096];
    for (ssize_t count = 0; (count = ::recv(socket_, chunk, sizeof chunk, 0)) > 0;)
      all.append(chunk, static_cast<std::size_t>(count));
    return all;
  }
  // At least until `text` was received.
  std::string receive_until(std::string_view text) const {
    std::string all;
    char chunk[4096];
    while (all.find(text) == std::string::npos) {
      const ssize_t count = ::recv(socket_, chunk, sizeof chunk, 0);
      if (count <= 0) break;
      all.append(chunk, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int socket_;
  bool connected_ = false;
};

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
