// A server on a loopback port that answers with exactly the bytes of a script, for tests of responses from faulty
// services.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cairn::testing_support {

class ScriptedServer {
 public:
  // Given the whole request, writes to the connection; it is closed afterwards.
  using Answer = std::function<void(const std::string& request, int connection)>;

  // On any free port unless one is named.
  explicit ScriptedServer(Answer answer, const char* host = "127.0.0.1", std::uint16_t port = 0)
      : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, host, &address.sin_addr);
    address.sin_port = htons(port);
    bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    listen(listener_, 512);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this] { accept_all(); });
  }
  ~ScriptedServer() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int connection : open_) shutdown(connection, SHUT_RDWR);
    }
    threads_.clear();
    close(listener_);
  }

  std::uint16_t port() const { return port_; }
  std::string url(const std::string& path = "/") const { return "http://127.0.0.1:" + std::to_string(port_) + path; }
  int connections() const { return connections_; }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  static void say(int connection, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }
  static std::string reply(const std::string& body, const std::string& status = "200 OK",
                           const std::string& headers = "Content-Type: application/json\r\n") {
    return "HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
           "\r\nConnection: close\r\n\r\n" + body;
  }

 private:
  void accept_all() {
    for (;;) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0 || stopping_) {
        if (connection >= 0) close(connection);
        return;
      }
      ++connections_;
      const std::lock_guard lock(mutex_);
      open_.push_back(connection);
      threads_.emplace_back([this, connection] { serve(connection); });
    }
  }

  void serve(int connection) {
    std::string request;
    char buffer[4096];
    while (!whole(request)) {
      const ssize_t count = recv(connection, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      request.append(buffer, static_cast<std::size_t>(count));
    }
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    answer_(request, connection);
    const std::lock_guard lock(mutex_);
    std::erase(open_, connection);
    close(connection);
  }

  static bool whole(const std::string& request) {
    if (!request.empty() && request[0] == 0x16) return true;  // the beginning of a TLS handshake
    const std::size_t head = request.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    const std::size_t length = request.find("Content-Length: ");
    if (length == std::string::npos || length > head) return true;
    return request.size() >= head + 4 + std::stoul(request.substr(length + 16));
  }

  Answer answer_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::string> requests_;
  std::vector<std::jthread> threads_;
  std::jthread acceptor_;
};

}  // namespace cairn::testing_support
