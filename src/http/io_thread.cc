// The threads that connections live on. Each has a clock that checks the time limits of its connections.
#include <boost/asio/post.hpp>

#include "base/log.h"
#include "http/connection.h"

namespace cairn::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t received_at_once = 64u << 10;
constexpr std::chrono::milliseconds tick_min{5};
constexpr std::chrono::milliseconds tick_max{500};

std::chrono::milliseconds tick_of(const HttpSettings& settings) {
  const auto shortest = std::min({settings.head_timeout, settings.body_timeout, settings.idle_timeout,
                                  settings.write_timeout, settings.answer_timeout, settings.stream_beat});
  return std::clamp(shortest / 4, tick_min, tick_max);
}

}  // namespace

IoThread::IoThread(const HttpSettings& settings)
    : bytes(received_at_once), running_(context.get_executor()), clock_(context), tick_(tick_of(settings)) {}

IoThread::~IoThread() { end(); }

void IoThread::begin() {
  thread_ = std::jthread([this] { context.run(); });
}

void IoThread::end() {
  context.stop();
  if (thread_.joinable()) thread_.join();
  // Operations pending in the context keep connections alive until the context is destroyed, which is after everything
  // that `wake` needs.
  for (const auto& connection : connections_) connection->abandon();
  std::vector<std::shared_ptr<Connection>> woken;
  {
    const std::scoped_lock lock(mutex_);
    woken.swap(woken_);
  }
  // Before the context: they own its sockets.
  woken.clear();
  connections_.clear();
}

void IoThread::take(std::shared_ptr<Connection> connection) {
  connections_.insert(connection);
  if (!ticking_) tick();
  connection->begin();
}

void IoThread::drop(const std::shared_ptr<Connection>& connection) { connections_.erase(connection); }

// An idle server without connections sleeps.
void IoThread::tick() {
  ticking_ = !connections_.empty();
  if (!ticking_) return;
  clock_.expires_after(tick_);
  clock_.async_wait([this](error_code failed) {
    if (failed) return;
    const auto now = std::chrono::steady_clock::now();
    for (auto at = connections_.begin(); at != connections_.end();) {
      const std::shared_ptr<Connection> connection = *at++;  // it may leave the list
      connection->check(now);
    }
    tick();
  });
}

void IoThread::drain() {
  for (auto at = connections_.begin(); at != connections_.end();) {
    const std::shared_ptr<Connection> connection = *at++;
    connection->drain();
  }
}

void IoThread::wake(std::shared_ptr<Connection> connection) {
  {
    const std::scoped_lock lock(mutex_);
    woken_.push_back(std::move(connection));
    if (woken_.size() > 1) return;
  }
  asio::post(context, [this] {
    std::vector<std::shared_ptr<Connection>> woken;
    {
      const std::scoped_lock lock(mutex_);
      woken.swap(woken_);
    }
    for (const auto& one : woken) one->rung();
  });
}

}  // namespace cairn::http
