#include "outbox/redis_sink.h"

#ifdef CAIRN_REDIS

#include <hiredis/hiredis.h>
#include <signal.h>
#include <sys/time.h>

#include <charconv>

#include "outbox/cloud_event.h"

namespace cairn {
namespace {

struct Address {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string path;  // of a Unix socket, instead
  std::string user;
  std::string password;
  int database = 0;
};

std::optional<int> number(std::string_view text, int most) {
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() || value < 0 || value > most) {
    return std::nullopt;
  }
  return value;
}

Result<Address> read_address(std::string_view url) {
  const Error wrong{ErrorCode::invalid, "a Redis URL is redis://[USER:PASSWORD@]HOST[:PORT][/DB] or unix:PATH"};
  Address address;
  if (url.starts_with("unix:")) {
    address.path = std::string(url.substr(5));
    if (address.path.empty()) return wrong;
    return address;
  }
  if (!url.starts_with("redis://")) return wrong;
  url.remove_prefix(8);
  if (const std::size_t at = url.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = url.substr(0, at);
    const std::size_t colon = login.find(':');
    if (colon == std::string_view::npos) return wrong;
    address.user = std::string(login.substr(0, colon));
    address.password = std::string(login.substr(colon + 1));
    url.remove_prefix(at + 1);
  }
  if (const std::size_t slash = url.find('/'); slash != std::string_view::npos) {
    const auto database = number(url.substr(slash + 1), 1'000'000);
    if (!database) return wrong;
    address.database = *database;
    url = url.substr(0, slash);
  }
  if (const std::size_t colon = url.rfind(':'); colon != std::string_view::npos) {
    const auto port = number(url.substr(colon + 1), 65'535);
    if (!port) return wrong;
    address.port = *port;
    url = url.substr(0, colon);
  }
  if (url.empty()) return wrong;
  address.host = std::string(url);
  return address;
}

struct FreeContext {
  void operator()(redisContext* context) const { redisFree(context); }
};
struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

// hiredis writes to sockets that the other side may have closed, which must not end the process: the signal is held
// back in this thread and taken away.
class PipeSignalHeldBack {
 public:
  PipeSignalHeldBack() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalHeldBack() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

class RedisSink final : public Sink {
 public:
  RedisSink(RedisSinkSettings settings, Address address)
      : Sink(settings.name, settings.types), settings_(std::move(settings)), address_(std::move(address)) {}

  // One MULTI … EXEC: all of the batch or nothing, so that no later event of a subject can stand in the stream
  // before an earlier one that failed.
  std::vector<SinkAnswer> deliver(std::span<const OutboxRow> events) override {
    const PipeSignalHeldBack guard;
    auto problem = connect();
    if (!problem) {
      redisAppendCommand(context_.get(), "MULTI");
      for (const OutboxRow& row : events) append(write_json(cloud_event(row, settings_.source)));
      redisAppendCommand(context_.get(), "EXEC");
      for (std::size_t i = 0; i < events.size() + 2 && !problem; ++i) problem = read_reply();
      if (problem) context_.reset();
    }
    const SinkAnswer answer{problem ? SinkAnswer::Kind::failed : SinkAnswer::Kind::taken, problem.value_or(""),
                            std::nullopt};
    return std::vector<SinkAnswer>(events.size(), answer);
  }

 private:
  std::optional<std::string> read_reply() {
    void* raw = nullptr;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK || raw == nullptr) {
      return "Redis: " + std::string(context_->errstr);
    }
    const Reply reply(static_cast<redisReply*>(raw));
    const redisReply* wrong = reply->type == REDIS_REPLY_ERROR ? reply.get() : nullptr;
    for (std::size_t i = 0; reply->type == REDIS_REPLY_ARRAY && wrong == nullptr && i < reply->elements; ++i) {
      if (reply->element[i]->type == REDIS_REPLY_ERROR) wrong = reply->element[i];
    }
    if (wrong == nullptr) return std::nullopt;
    return "Redis: " + std::string(wrong->str, wrong->len);
  }

  std::optional<std::string> connect() {
    if (context_ && context_->err == 0) return std::nullopt;
    const timeval limit{static_cast<time_t>(settings_.timeout.seconds), settings_.timeout.nanos / 1000};
    context_.reset(address_.path.empty() ? redisConnectWithTimeout(address_.host.c_str(), address_.port, limit)
                                         : redisConnectUnixWithTimeout(address_.path.c_str(), limit));
    if (!context_) return "Redis: no memory for a connection";
    if (context_->err != 0) return "Redis: " + std::string(context_->errstr);
    redisSetTimeout(context_.get(), limit);
    if (!address_.password.empty()) {
      const std::string user = address_.user.empty() ? "default" : address_.user;
      if (auto problem = ask({"AUTH", user, address_.password})) return problem;
    }
    if (address_.database != 0) {
      if (auto problem = ask({"SELECT", std::to_string(address_.database)})) return problem;
    }
    return std::nullopt;
  }

  std::optional<std::string> ask(const std::vector<std::string>& words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    const Reply reply(static_cast<redisReply*>(
        redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data())));
    std::optional<std::string> problem;
    if (!reply) {
      problem = "Redis: " + std::string(context_->errstr);
    } else if (reply->type == REDIS_REPLY_ERROR) {
      problem = "Redis: " + std::string(reply->str, reply->len);
    }
    if (problem) context_.reset();
    return problem;
  }

  void append(const std::string& event) {
    const std::string length = std::to_string(settings_.length_max);
    std::vector<std::string_view> words{"XADD", settings_.stream};
    if (settings_.length_max > 0) words.insert(words.end(), {"MAXLEN", "~", length});
    words.insert(words.end(), {"*", "event", event});
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string_view word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
  }

  RedisSinkSettings settings_;
  Address address_;
  std::unique_ptr<redisContext, FreeContext> context_;
};

}  // namespace

Result<std::unique_ptr<Sink>> make_redis_sink(RedisSinkSettings settings) {
  CAIRN_TRY(Address address, read_address(settings.url));
  return std::unique_ptr<Sink>(std::make_unique<RedisSink>(std::move(settings), std::move(address)));
}

}  // namespace cairn

#else

namespace cairn {

Result<std::unique_ptr<Sink>> make_redis_sink(RedisSinkSettings) {
  return Error{ErrorCode::unsupported, "this build knows no Redis: hiredis was not there when it was made"};
}

}  // namespace cairn

#endif
