// The connection's side of an EventStream: the unsent text, and how to wake the connection.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/server.h"

namespace cairn::http {

struct EventStream::Line {
  Line(std::function<void()> ring_function, std::size_t most) : ring(std::move(ring_function)), bytes_max(most) {}

  void close() {
    std::function<void()> tell;
    std::vector<std::shared_ptr<void>> released;  // destroyed outside the mutex
    {
      const std::scoped_lock lock(mutex);
      if (ring) ring();
      ring = nullptr;
      tell = std::move(drained);
      drained = nullptr;
      released.swap(held);
    }
    if (tell) tell();  // tells a sender that waits for room that the client is gone
  }

  std::mutex mutex;
  std::function<void()> ring;  // empty: closed
  std::function<void()> drained;
  std::vector<std::shared_ptr<void>> held;  // released when the stream closes
  std::string waiting;
  std::size_t writing = 0;  // bytes being written to the client
  const std::size_t bytes_max;
};

}  // namespace cairn::http
