// A plain socket for tests: it sends exactly the bytes of the test.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace cairn::http {

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    timeval patience{30, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  int handle() const { return socket_; }
  void send(std::string_view text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  // Closes the sending side.
  void finish() const { ::shutdown(socket_, SHUT_WR); }
  void hang_up() const { ::shutdown(socket_, SHUT_RDWR); }
  // Reads until the server closes. A server that does not close is a failure of the test.
  std::string receive_all() const {
    std::string all;
    char chunk[4096];
    ssize_t count = 0;
    while ((count = ::recv(socket_, chunk, sizeof chunk, 0)) > 0) all.append(chunk, static_cast<std::size_t>(count));
    EXPECT_FALSE(count < 0 && errno == EAGAIN) << "the server did not close the connection after: " << all;
    return all;
  }
  // Reads at least until `text` was received.
  std::string receive_until(std::string_view text) const {
    std::string all;
    char chunk[4096];
    while (all.find(text) == std::string::npos) {
      const ssize_t count = ::recv(socket_, chunk, sizeof chunk, 0);
      if (count <= 0) break;
      all.append(chunk, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int socket_;
  bool connected_ = false;
};

}  // namespace cairn::http
