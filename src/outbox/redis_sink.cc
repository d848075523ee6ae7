#include "outbox/redis_sink.h"

#include <sys/socket.h>

#include <mutex>

#include "outbox/cloud_event.h"
#include "redis/connection.h"

namespace cairn {
namespace {

class RedisSink final : public Sink {
 public:
  explicit RedisSink(RedisSinkSettings settings)
      : Sink(settings.name, settings.types), settings_(std::move(settings)) {}

  // One MULTI … EXEC writes the whole batch or nothing, so a later event of a subject never precedes an earlier one
  // that failed.
  std::vector<SinkAnswer> deliver(std::span<const OutboxRow> events) override {
    if (stopping()) return std::vector<SinkAnswer>(events.size());
    std::vector<redis::Command> commands{{"MULTI"}};
    for (const OutboxRow& row : events) commands.push_back(entry(write_json(cloud_event(row, settings_.source))));
    commands.push_back({"EXEC"});
    const auto sent = send(commands);
    const SinkAnswer answer{sent ? SinkAnswer::Kind::taken : SinkAnswer::Kind::failed, sent ? "" : sent.error().message,
                            std::nullopt};
    return std::vector<SinkAnswer>(events.size(), answer);
  }

  // The timeout holds for each reply. A server that answers slowly could take minutes for a batch.
  void abandon() override {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    if (connection_) ::shutdown(connection_->descriptor(), SHUT_RDWR);
  }

 private:
  Result<void> send(const std::vector<redis::Command>& commands) {
    if (!connection_) {
      CAIRN_TRY(auto opened, redis::Connection::open(settings_.url, settings_.timeout));
      const std::lock_guard lock(mutex_);
      if (abandoned_) return Error{ErrorCode::unavailable, "the sink is stopping"};
      connection_ = std::move(opened);
    }
    auto sent = connection_->send(commands);
    const std::lock_guard lock(mutex_);
    if (!sent) connection_.reset();
    return sent;
  }

  redis::Command entry(std::string event) const {
    redis::Command words{"XADD", settings_.stream};
    if (settings_.length_max > 0) words.insert(words.end(), {"MAXLEN", "~", std::to_string(settings_.length_max)});
    words.insert(words.end(), {"*", "event", std::move(event)});
    return words;
  }

  RedisSinkSettings settings_;
  std::mutex mutex_;  // for `abandon`, which comes from another thread
  bool abandoned_ = false;
  std::unique_ptr<redis::Connection> connection_;  // replaced by the delivering thread only
};

}  // namespace

Result<std::unique_ptr<Sink>> make_redis_sink(RedisSinkSettings settings) {
  CAIRN_TRY_VOID(redis::check_url(settings.url));
  return std::unique_ptr<Sink>(std::make_unique<RedisSink>(std::move(settings)));
}

}  // namespace cairn
