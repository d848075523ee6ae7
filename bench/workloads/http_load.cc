#include "workloads/http_load.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace cairn::bench {

namespace {

using Moment = std::chrono::steady_clock::time_point;

struct Connection {
  int socket = -1;
  Moment began;  // of the workflow
  std::string received;

  Connection() = default;
  Connection(Connection&& other) noexcept : socket(std::exchange(other.socket, -1)) {}
  ~Connection() {
    if (socket >= 0) ::close(socket);
  }
};

struct HttpReply {
  int status = 0;
  std::string_view body;
  std::size_t size = 0;  // of all of it
};

// Empty: the answer is incomplete.
std::optional<HttpReply> read_answer(std::string_view text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos || end < 12) return std::nullopt;
  std::string head(text.substr(0, end));
  std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) { return std::tolower(c); });
  std::size_t length = 0;
  constexpr std::string_view field = "\r\ncontent-length:";
  if (const std::size_t at = head.find(field); at != std::string::npos) {
    const std::size_t digits = head.find_first_not_of(' ', at + field.size());
    std::from_chars(head.data() + digits, head.data() + head.size(), length);
  }
  if (text.size() < end + 4 + length) return std::nullopt;
  HttpReply answer;
  std::from_chars(text.data() + 9, text.data() + 12, answer.status);
  answer.body = text.substr(end + 4, length);
  answer.size = end + 4 + length;
  return answer;
}

}  // namespace

Result<Row> HttpLoad::run(const Plan& plan, int outstanding) const {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    return Error{ErrorCode::invalid, host + " is no IPv4 address"};
  }
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<Connection> connections(static_cast<std::size_t>(outstanding));
  const auto send = [&](int index) -> Result<void> {
    const Request request = next(index);
    std::string text = std::string(request.method) + " " + request.target + " HTTP/1.1\r\nHost: " + host +
                       "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(request.body.size()) +
                       "\r\n\r\n" + request.body;
    for (std::size_t sent = 0; sent < text.size();) {
      const ssize_t more = ::send(connections[static_cast<std::size_t>(index)].socket, text.data() + sent,
                                  text.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) return Error{ErrorCode::unavailable, "the server does not read"};
      sent += static_cast<std::size_t>(more);
    }
    return {};
  };
  for (int i = 0; i < outstanding; ++i) {
    Connection& connection = connections[static_cast<std::size_t>(i)];
    connection.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(connection.socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      ::close(poll);
      return Error{ErrorCode::unavailable, "the server does not answer"};
    }
    epoll_event interest{};
    interest.events = EPOLLIN;
    interest.data.fd = i;
    ::epoll_ctl(poll, EPOLL_CTL_ADD, connection.socket, &interest);
  }
  const auto after = [](double seconds) {
    return std::chrono::steady_clock::now() + std::chrono::microseconds(static_cast<long>(seconds * 1e6));
  };
  Latencies latencies;
  std::optional<Meter> meter;
  std::optional<Error> failed;
  const auto measure = [&] {
    measuring();
    meter.emplace();
  };
  if (workflows > 0) measure();
  std::size_t begun = 0;
  // Starts another workflow, unless enough are in flight.
  const auto begin = [&](int index) {
    if (workflows > 0 && begun == workflows) return;
    ++begun;
    connections[static_cast<std::size_t>(index)].began = std::chrono::steady_clock::now();
    if (auto sent = send(index); !sent) failed = sent.error();
  };
  for (int i = 0; i < outstanding; ++i) begin(i);
  Moment turn = after(plan.warm_up_s());
  std::vector<epoll_event> events(static_cast<std::size_t>(outstanding));
  std::string buffer(64 * 1024, '\0');
  while (!failed) {
    if (workflows > 0 && latencies.count() == workflows) break;
    if (workflows == 0 && std::chrono::steady_clock::now() >= turn) {
      if (meter) break;
      measure();
      turn = after(plan.seconds);
    }
    const int ready = ::epoll_wait(poll, events.data(), outstanding, 50);
    for (int e = 0; e < ready && !failed; ++e) {
      const int index = events[static_cast<std::size_t>(e)].data.fd;
      Connection& connection = connections[static_cast<std::size_t>(index)];
      const ssize_t got = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        failed = Error{ErrorCode::unavailable, "the server closed a connection"};
        break;
      }
      connection.received.append(buffer.data(), static_cast<std::size_t>(got));
      const auto answer = read_answer(connection.received);
      if (!answer) continue;
      auto ended = answered(index, answer->status, answer->body);
      if (!ended) {
        failed = ended.error();
        break;
      }
      connection.received.erase(0, answer->size);
      if (*ended) {
        const Moment seen = std::chrono::steady_clock::now();
        if (meter) latencies.add(std::chrono::duration<double, std::milli>(seen - connection.began).count());
        begin(index);
      } else if (auto sent = send(index); !sent) {
        failed = sent.error();
      }
    }
  }
  ::close(poll);
  if (failed) return *failed;
  Row row;
  row.cost = meter->read();
  latencies.sort();
  row.outstanding = outstanding;
  row.count = latencies.count();
  row.rate = row.rate_low = row.rate_high = static_cast<double>(row.count) / row.cost.wall_s;
  row.p50_ms = latencies.at(0.5);
  row.p99_ms = latencies.at(0.99);
  row.max_ms = latencies.max();
  return row;
}

}  // namespace cairn::bench
