// A TCP port that leads to a server's Unix socket, and that can swallow what passes: the connections stay open,
// nothing comes through any more, and nobody is told.
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
  // Whatever is open now is a black hole from now on; what is opened later works.
  void swallow();
  std::size_t opened() const { return opened_; }

 private:
  void run();

  const std::string socket_path_;
  int listening_ = -1;
  int wake_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> opened_ = 0;
  std::atomic<std::size_t> swallowed_ = 0;  // so many of the first connections are black holes
  std::atomic<bool> over_ = false;
  std::jthread thread_;
};

}  // namespace cairn
