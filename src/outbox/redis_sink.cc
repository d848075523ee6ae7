#include "outbox/redis_sink.h"

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
    std::vector<redis::Command> commands{{"MULTI"}};
    for (const OutboxRow& row : events) commands.push_back(entry(write_json(cloud_event(row, settings_.source))));
    commands.push_back({"EXEC"});
    const auto sent = send(commands);
    const SinkAnswer answer{sent ? SinkAnswer::Kind::taken : SinkAnswer::Kind::failed, sent ? "" : sent.error().message,
                            std::nullopt};
    return std::vector<SinkAnswer>(events.size(), answer);
  }

 private:
  Result<void> send(const std::vector<redis::Command>& commands) {
    if (!connection_) {
      CAIRN_TRY(connection_, redis::Connection::open(settings_.url, settings_.timeout));
    }
    auto sent = connection_->send(commands);
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
  std::unique_ptr<redis::Connection> connection_;
};

}  // namespace

Result<std::unique_ptr<Sink>> make_redis_sink(RedisSinkSettings settings) {
  CAIRN_TRY_VOID(redis::check_url(settings.url));
  return std::unique_ptr<Sink>(std::make_unique<RedisSink>(std::move(settings)));
}

}  // namespace cairn
