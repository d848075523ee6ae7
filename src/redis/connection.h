// src/redis is one blocking connection to Redis. The outbox writes streams with it, and nodes publish hints and
// subscribe to them. One thread at a time may use a connection. A build without hiredis returns ErrorCode::unsupported
// from every function. The module uses only base. Read `Connection::open` first.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cairn::redis {

// Accepts redis://[USER:PASSWORD@]HOST[:PORT][/DB] and unix:PATH; otherwise ErrorCode::invalid.
Result<void> check_url(std::string_view url);

using Command = std::vector<std::string>;

class Connection {
 public:
  // `timeout` applies to looking up the name, to connecting to each of its addresses and to every reply.
  // ErrorCode::unavailable gives the reason.
  static Result<std::unique_ptr<Connection>> open(std::string_view url, Duration timeout);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Sends all commands in one round trip. ErrorCode::unavailable if a reply is missing or is an error; the connection
  // is unusable after that.
  Result<void> send(std::span<const Command> commands);

  // Switches the connection to listening: poll `descriptor`, and `read` returns the messages of the channel.
  Result<void> subscribe(const std::string& channel);
  int descriptor() const;
  Result<std::vector<std::string>> read();

 private:
  struct Link;
  explicit Connection(std::unique_ptr<Link> link);
  std::unique_ptr<Link> link_;
};

}  // namespace cairn::redis
