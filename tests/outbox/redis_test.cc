// The Redis sink against a real server on a private socket. Skipped if there is no server.
#ifdef CAIRN_REDIS

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "outbox/redis_sink.h"

extern char** environ;

namespace cairn {
namespace {

class RedisServer : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path().string() + "/cairn_redis_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
    socket_ = folder_ + "/redis.sock";
    start();
  }
  void TearDown() override {
    stop();
    std::filesystem::remove_all(folder_);
  }
  void start() {
    const std::string log = folder_ + "/log";
    const std::vector<std::string> words{
        "redis-server", "--port",    "0", "--unixsocket", socket_, "--save",      "",  "--appendonly",
        "no",           "--logfile", log, "--dir",        folder_, "--daemonize", "no"};
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (posix_spawnp(&server_, "redis-server", nullptr, nullptr, arguments.data(), environ) != 0) {
      server_ = 0;
      GTEST_SKIP() << "there is no redis-server here";
    }
    // Connecting fails until it listens; nothing tells us when.
    for (int i = 0; i < 100'000; ++i) {
      redisContext* const context = redisConnectUnix(socket_.c_str());
      const bool ready = context != nullptr && context->err == 0;
      if (context != nullptr) redisFree(context);
      if (ready) return;
      int status = 0;
      ASSERT_EQ(waitpid(server_, &status, WNOHANG), 0) << "redis-server ended";
      std::this_thread::yield();
    }
    FAIL() << "redis-server does not listen";
  }
  void stop() {
    if (server_ == 0) return;
    kill(server_, SIGKILL);
    waitpid(server_, nullptr, 0);
    server_ = 0;
  }
  std::unique_ptr<Sink> sink(std::int64_t length_max = 0) {
    RedisSinkSettings settings;
    settings.name = "redis";
    settings.url = "unix:" + socket_;
    settings.stream = "events";
    settings.length_max = length_max;
    settings.source = "/test";
    return std::move(*make_redis_sink(settings));
  }
  static std::vector<OutboxRow> rows(int first, int count) {
    std::vector<OutboxRow> made;
    for (int i = first; i < first + count; ++i) {
      OutboxRow row;
      row.sequence = i;
      row.event = {{"e" + std::to_string(i)}, "t", "s", Json(i)};
      made.push_back(row);
    }
    return made;
  }
  std::string stream() {
    redisContext* const context = redisConnectUnix(socket_.c_str());
    auto* const reply = static_cast<redisReply*>(redisCommand(context, "XRANGE events - +"));
    std::string ids;
    for (std::size_t i = 0; i < reply->elements; ++i) {
      const redisReply* const fields = reply->element[i]->element[1];
      const auto event = parse_json({fields->element[1]->str, fields->element[1]->len});
      ids += std::string(event->text_or("id", "?")) + " ";
    }
    freeReplyObject(reply);
    redisFree(context);
    return ids;
  }

  std::string folder_;
  std::string socket_;
  pid_t server_ = 0;
};

TEST_F(RedisServer, GetsTheEventsInOrder) {
  const auto with = sink();
  for (const SinkAnswer& answer : with->deliver(rows(0, 3))) EXPECT_EQ(answer.kind, SinkAnswer::Kind::taken);
  for (const SinkAnswer& answer : with->deliver(rows(3, 2))) EXPECT_EQ(answer.kind, SinkAnswer::Kind::taken);
  EXPECT_EQ(stream(), "e0 e1 e2 e3 e4 ");
}

TEST_F(RedisServer, AfterARestartItConnectsAgain) {
  const auto with = sink();
  with->deliver(rows(0, 1));
  stop();
  const auto refused = with->deliver(rows(1, 2));
  EXPECT_EQ(refused[0].kind, SinkAnswer::Kind::failed);
  EXPECT_TRUE(refused[0].error.starts_with("Redis: ")) << refused[0].error;
  start();
  EXPECT_EQ(with->deliver(rows(1, 2))[1].kind, SinkAnswer::Kind::taken);
  EXPECT_EQ(stream(), "e1 e2 ") << "this server keeps nothing over a restart";
}

TEST_F(RedisServer, SomethingElseUnderTheNameIsAFailure) {
  redisContext* const context = redisConnectUnix(socket_.c_str());
  freeReplyObject(redisCommand(context, "SET events text"));
  redisFree(context);
  const auto answers = sink()->deliver(rows(0, 1));
  EXPECT_EQ(answers[0].kind, SinkAnswer::Kind::failed);
}

// Accepts a connection and never answers.
class SilentServer {
 public:
  explicit SilentServer(const std::string& path) : path_(path), listener_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 1), 0);
  }
  ~SilentServer() {
    close(connection_);
    close(listener_);
    unlink(path_.c_str());
  }
  void wait_for_a_command() {
    connection_ = accept(listener_, nullptr, nullptr);
    char byte = 0;
    EXPECT_EQ(recv(connection_, &byte, 1, 0), 1);
  }

 private:
  const std::string path_;
  const int listener_;
  int connection_ = -1;
};

TEST(RedisSinkStop, ASinkThatIsAbandonedNoLongerWaits) {
  const std::string path =
      std::filesystem::temp_directory_path().string() + "/cairn_silent_" + std::to_string(::getpid());
  SilentServer server(path);
  RedisSinkSettings settings;
  settings.url = "unix:" + path;
  settings.timeout = Duration::of_seconds(3600);
  const auto sink = std::move(*make_redis_sink(settings));
  std::vector<SinkAnswer> answers;
  const std::vector<OutboxRow> rows(3);
  std::jthread delivering([&] { answers = sink->deliver(rows); });
  server.wait_for_a_command();
  sink->stop();
  sink->abandon();
  delivering.join();
  for (const SinkAnswer& answer : answers) EXPECT_EQ(answer.kind, SinkAnswer::Kind::failed);
  for (const SinkAnswer& answer : sink->deliver(rows)) EXPECT_EQ(answer.kind, SinkAnswer::Kind::not_tried);
}

TEST(RedisUrl, IsChecked) {
  for (const char* url : {"http://x", "redis://", "redis://host:port", "redis://host/db", "unix:", "redis://u@host"}) {
    RedisSinkSettings settings;
    settings.url = url;
    EXPECT_FALSE(make_redis_sink(settings).has_value()) << url;
  }
  for (const char* url : {"redis://host", "redis://u:p@host:1/2", "unix:/tmp/x"}) {
    RedisSinkSettings settings;
    settings.url = url;
    EXPECT_TRUE(make_redis_sink(settings).has_value()) << url;
  }
}

}  // namespace
}  // namespace cairn

#endif
