// A TCP port that forwards to a server's Unix socket and can turn into a black hole: the connections stay open, but no
// data passes and neither side is notified.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace cairn {

class Proxy {
 public:
  explicit Proxy(const std::string& socket_path);
  ~Proxy();

  std::uint16_t port() const { return port_; }
  // From now on all open connections are black holes; later connections work.
  void swallow();
  std::size_t opened() const { return opened_; }

 private:
  void run();

  const std::string socket_path_;
  int listening_ = -1;
  int wake_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> opened_ = 0;
  std::atomic<std::size_t> swallowed_ = 0;  // this many of the first connections are black holes
  std::atomic<bool> over_ = false;
  std::jthread thread_;
};

}  // namespace cairn
