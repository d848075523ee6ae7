// Where the answer of one request arrives, and how what a connection shares with others ends with it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "server/http_server.h"

namespace cairn::server {

// Where the answer of one request arrives, from whatever thread, even when the connection is gone.
class PendingAnswer {
 public:
  explicit PendingAnswer(std::function<void()> ring) : ring_(std::move(ring)) {}
  void give(Response response) {
    const std::scoped_lock lock(mutex_);
    if (!ring_ || response_) return;
    response_ = std::move(response);
    if (awaited_) ring_();
  }
  bool given() {
    const std::scoped_lock lock(mutex_);
    return response_.has_value();
  }
  // False when it is there already; otherwise it rings when it comes. Until then nobody needs to be rung for.
  bool await() {
    const std::scoped_lock lock(mutex_);
    awaited_ = true;
    return !response_;
  }
  // What came; later answers are dropped.
  std::optional<Response> close() {
    const std::scoped_lock lock(mutex_);
    ring_ = nullptr;
    return std::move(response_);
  }

 private:
  std::mutex mutex_;
  std::function<void()> ring_;
  bool awaited_ = false;
  std::optional<Response> response_;
};

// Ends a PendingAnswer or a stream's Line also when the server is torn down around the coroutine.
template <class Shared>
struct ClosedAtTheEnd {
  explicit ClosedAtTheEnd(std::shared_ptr<Shared> given) : shared(std::move(given)) {}
  ClosedAtTheEnd(const ClosedAtTheEnd&) = delete;
  ClosedAtTheEnd& operator=(const ClosedAtTheEnd&) = delete;
  ~ClosedAtTheEnd() { shared->close(); }
  std::shared_ptr<Shared> shared;
};

}  // namespace cairn::server
