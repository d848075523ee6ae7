#include "redis/connection.h"

#ifdef CAIRN_REDIS

#include <hiredis/hiredis.h>
#include <signal.h>
#include <sys/time.h>

#include <charconv>
#include <optional>

#include "base/name_lookup.h"

namespace cairn::redis {

namespace {

struct Address {
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string path;  // set for a Unix socket
  std::string user;
  std::string password;
  int database = 0;
};

std::optional<int> number(std::string_view text, int most) {
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;  // from_chars also reads "-0"
  if (text.empty() || !digits || read.ec != std::errc() || value > most) return std::nullopt;
  return value;
}

Result<Address> read_address(std::string_view url) {
  const Error wrong{ErrorCode::invalid, "a Redis URL must be redis://[USER:PASSWORD@]HOST[:PORT][/DB] or unix:PATH"};
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

// hiredis may write to a closed socket, which must not end the process. This blocks SIGPIPE in the thread and discards
// it afterwards.
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

using Context = std::unique_ptr<redisContext, FreeContext>;

Error unavailable(std::string_view why) { return {ErrorCode::unavailable, "Redis: " + std::string(why)}; }

// The error in a reply, or in one part of an EXEC reply.
const redisReply* wrong_part(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_ERROR) return &reply;
  for (std::size_t i = 0; reply.type == REDIS_REPLY_ARRAY && i < reply.elements; ++i) {
    if (reply.element[i]->type == REDIS_REPLY_ERROR) return reply.element[i];
  }
  return nullptr;
}

void append(redisContext& context, const Command& command) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : command) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  redisAppendCommandArgv(&context, static_cast<int>(command.size()), texts.data(), sizes.data());
}

// hiredis would look up a name itself, without a timeout.
Result<Context> connect(const Address& address, Duration timeout) {
  const timeval limit{static_cast<time_t>(timeout.seconds), timeout.nanos / 1000};
  std::vector<std::string> hosts;
  if (address.path.empty()) {
    auto found = find_addresses(address.host, std::chrono::milliseconds(timeout.ms_up()));
    if (!found) return unavailable(found.error().message);
    hosts = std::move(*found);
  } else {
    hosts.push_back(address.path);
  }
  Context context;
  for (const std::string& host : hosts) {
    context.reset(address.path.empty() ? redisConnectWithTimeout(host.c_str(), address.port, limit)
                                       : redisConnectUnixWithTimeout(host.c_str(), limit));
    if (!context) return unavailable("out of memory");
    if (context->err == 0) break;
  }
  if (context->err != 0) return unavailable(context->errstr);
  redisSetTimeout(context.get(), limit);
  return context;
}

}  // namespace

struct Connection::Link {
  Context context;
};

Result<void> check_url(std::string_view url) {
  CAIRN_TRY_VOID(read_address(url));
  return {};
}

Connection::Connection(std::unique_ptr<Link> link) : link_(std::move(link)) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(std::string_view url, Duration timeout) {
  const PipeSignalHeldBack guard;
  CAIRN_TRY(const Address address, read_address(url));
  auto link = std::make_unique<Link>();
  CAIRN_TRY(link->context, connect(address, timeout));
  std::unique_ptr<Connection> connection(new Connection(std::move(link)));
  std::vector<Command> greeting;
  if (!address.password.empty()) {
    greeting.push_back({"AUTH", address.user.empty() ? "default" : address.user, address.password});
  }
  if (address.database != 0) greeting.push_back({"SELECT", std::to_string(address.database)});
  CAIRN_TRY_VOID(connection->send(greeting));
  return connection;
}

Result<void> Connection::send(std::span<const Command> commands) {
  const PipeSignalHeldBack guard;
  redisContext& context = *link_->context;
  for (const Command& command : commands) append(context, command);
  for (std::size_t i = 0; i < commands.size(); ++i) {
    void* raw = nullptr;
    if (redisGetReply(&context, &raw) != REDIS_OK || raw == nullptr) return unavailable(context.errstr);
    const Reply reply(static_cast<redisReply*>(raw));
    if (const redisReply* wrong = wrong_part(*reply)) return unavailable({wrong->str, wrong->len});
  }
  return {};
}

Result<void> Connection::subscribe(const std::string& channel) {
  const Command command{"SUBSCRIBE", channel};
  return send(std::span(&command, 1));
}

int Connection::descriptor() const { return link_->context->fd; }

Result<std::vector<std::string>> Connection::read() {
  redisContext& context = *link_->context;
  if (redisBufferRead(&context) != REDIS_OK) return unavailable(context.errstr);
  std::vector<std::string> messages;
  for (;;) {
    void* raw = nullptr;
    if (redisGetReplyFromReader(&context, &raw) != REDIS_OK) return unavailable(context.errstr);
    if (raw == nullptr) return messages;
    const Reply reply(static_cast<redisReply*>(raw));
    // ["message", channel, text]
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 || reply->element[2]->type != REDIS_REPLY_STRING) {
      continue;
    }
    messages.emplace_back(reply->element[2]->str, reply->element[2]->len);
  }
}

}  // namespace cairn::redis

#else

namespace cairn::redis {

namespace {

Error unknown() { return {ErrorCode::unsupported, "this build has no Redis support; build it with hiredis installed"}; }

}  // namespace

struct Connection::Link {};
Connection::Connection(std::unique_ptr<Link> link) : link_(std::move(link)) {}
Connection::~Connection() = default;
Result<void> check_url(std::string_view) { return unknown(); }
Result<std::unique_ptr<Connection>> Connection::open(std::string_view, Duration) { return unknown(); }
Result<void> Connection::send(std::span<const Command>) { return unknown(); }
Result<void> Connection::subscribe(const std::string&) { return unknown(); }
int Connection::descriptor() const { return -1; }
Result<std::vector<std::string>> Connection::read() { return unknown(); }

}  // namespace cairn::redis

#endif
