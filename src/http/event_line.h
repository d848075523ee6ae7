// The connection's side of an EventStream: what waits to be written, and how to wake the connection.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/server.h"

namespace cairn::server {

struct EventStream::Line {
  Line(std::function<void()> ring_function, std::size_t most) : ring(std::move(ring_function)), bytes_max(most) {}

  void close() {
    std::function<void()> tell;
    std::vector<std::shared_ptr<void>> released;  // without the mutex
    {
      const std::scoped_lock lock(mutex);
      if (ring) ring();
      ring = nullptr;
      tell = std::move(drained);
      drained = nullptr;
      released.swap(held);
    }
    if (tell) tell();  // whoever waits to send more learns that there is nobody
  }

  std::mutex mutex;
  std::function<void()> ring;  // empty: closed
  std::function<void()> drained;
  std::vector<std::shared_ptr<void>> held;  // until it is closed
  std::string waiting;
  std::size_t writing = 0;  // bytes on their way to the client
  const std::size_t bytes_max;
};

}  // namespace cairn::server
