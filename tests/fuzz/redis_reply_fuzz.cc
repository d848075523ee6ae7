// A Redis URL on the first line, then the bytes of a server that answers anything: commands end with success or an
// error, and messages are parts of what the server sent.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "input.h"
#include "redis/connection.h"

namespace {

int listening(std::string& path) {
  path = "/tmp/cairn-redis-fuzz-" + std::to_string(::getpid());
  ::unlink(path.c_str());
  const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  CAIRN_ASSERT(::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CAIRN_ASSERT(::listen(server, 8) == 0);
  return server;
}

}  // namespace

void fuzz(std::string_view input) {
  using namespace cairn::redis;
  static std::string path;
  static const int server = listening(path);
  static const bool linked = ::unlink((path + ".gone").c_str()) != 0;
  CAIRN_ASSERT(linked);
  const std::string_view url = cairn::fuzzing::take_line(input);
  if (check_url(url)) CAIRN_ASSERT(url.starts_with("redis://") || url.starts_with("unix:"));
  auto connection = Connection::open("unix:" + path, cairn::Duration::of_seconds(5));
  CAIRN_ASSERT(connection.has_value());
  const int client = ::accept(server, nullptr, nullptr);
  CAIRN_ASSERT(client >= 0);
  CAIRN_ASSERT(::send(client, input.data(), input.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(input.size()));
  ::shutdown(client, SHUT_WR);
  if (input.size() % 2 == 0) {
    const Command commands[] = {{"XADD", "s", "*", "event", "{}"}, {"PING"}};
    const auto sent = (*connection)->send(commands);
    if (!sent) CAIRN_ASSERT(sent.error().code == cairn::ErrorCode::unavailable);
  } else if (const auto messages = (*connection)->read()) {
    for (const std::string& message : *messages) CAIRN_ASSERT(input.find(message) != std::string_view::npos);
  }
  ::close(client);
}
