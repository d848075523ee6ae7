#include "api/telemetry/metrics_fanout.h"

#include "base/json.h"
#include "base/log.h"
#include "redis/connection.h"

namespace cairn::api {

namespace {

constexpr std::chrono::seconds every{5};
constexpr const char* kept_seconds = "15";  // three intervals: a node that has missed two is gone
const Duration answer_within = Duration::of_seconds(1);

}  // namespace

MetricsFanout::MetricsFanout(std::string url, std::string schema, std::string node, std::function<std::string()> text)
    : url_(std::move(url)),
      channel_("cairn:" + std::move(schema) + ":metrics"),
      node_(std::move(node)),
      text_(std::move(text)),
      thread_([this] { run(); }) {}

MetricsFanout::~MetricsFanout() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ended_.notify_all();
}

void MetricsFanout::run() {
  std::unique_ptr<redis::Connection> connection;
  bool said = false;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const auto send = [&]() -> Result<void> {
      if (!connection) {
        CAIRN_TRY(connection, redis::Connection::open(url_, answer_within));
      }
      const std::string text = text_();
      const std::vector<redis::Command> commands{
          {"PUBLISH", channel_, write_json(Json::object({{"node", node_}, {"metrics", text}}))},
          {"SET", channel_ + ":" + node_, text, "EX", kept_seconds}};
      return connection->send(commands);
    };
    const auto sent = send();
    if (!sent) {
      connection.reset();
      if (!said) log_warning("metrics.not_sent", {{"reason", sent.error().message}});
    }
    said = !sent;
    lock.lock();
    ended_.wait_for(lock, every, [this] { return stopping_; });
  }
}

}  // namespace cairn::api
