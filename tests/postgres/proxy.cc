#include "proxy.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

namespace cairn {

namespace {

struct Pair {
  int client = -1;
  int server = -1;
  std::size_t number = 0;
};

// False: one side has closed.
bool pass_on(int from, int to) {
  std::array<char, 65536> buffer;
  const ssize_t got = ::recv(from, buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  for (ssize_t sent = 0; sent < got;) {
    const ssize_t now = ::send(to, buffer.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
    if (now <= 0) return false;
    sent += now;
  }
  return true;
}

}  // namespace

Proxy::Proxy(const std::string& socket_path) : socket_path_(socket_path) {
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(listening_, reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(::listen(listening_, 64), 0);
  EXPECT_EQ(::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &length), 0);
  port_ = ntohs(address.sin_port);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::jthread([this] { run(); });
}

Proxy::~Proxy() {
  over_ = true;
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(wake_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  thread_.join();
  ::close(listening_);
  ::close(wake_);
}

void Proxy::swallow() {
  swallowed_ = opened_.load();
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(wake_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

void Proxy::run() {
  std::vector<Pair> pairs;
  while (!over_) {
    std::vector<pollfd> files{{listening_, POLLIN, 0}, {wake_, POLLIN, 0}};
    for (const Pair& pair : pairs) {
      // A black hole does not notice a disconnect either.
      const bool open = pair.number >= swallowed_;
      files.push_back({open ? pair.client : -1, POLLIN, 0});
      files.push_back({open ? pair.server : -1, POLLIN, 0});
    }
    ::poll(files.data(), files.size(), -1);
    std::uint64_t count = 0;
    if ((files[1].revents & POLLIN) != 0 && ::read(wake_, &count, sizeof count) < 0) return;
    std::vector<Pair> left;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Pair& pair = pairs[i];
      const bool fine = (files[2 + 2 * i].revents == 0 || pass_on(pair.client, pair.server)) &&
                        (files[3 + 2 * i].revents == 0 || pass_on(pair.server, pair.client));
      if (fine) {
        left.push_back(pair);
      } else {
        ::close(pair.client);
        ::close(pair.server);
      }
    }
    pairs = std::move(left);
    if ((files[0].revents & POLLIN) == 0) continue;
    Pair pair{::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC), ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
              opened_++};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket_path_.c_str(), sizeof address.sun_path - 1);
    if (::connect(pair.server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      pairs.push_back(pair);
    } else {
      ::close(pair.client);
      ::close(pair.server);
    }
  }
  for (const Pair& pair : pairs) {
    ::close(pair.client);
    ::close(pair.server);
  }
}

}  // namespace cairn
