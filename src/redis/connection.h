// One connection to Redis. Used by one thread at a time. In a build without hiredis everything answers
// ErrorCode::unsupported.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cairn::redis {

// redis://[USER:PASSWORD@]HOST[:PORT][/DB] or unix:PATH; ErrorCode::invalid otherwise.
Result<void> check_url(std::string_view url);

using Command = std::vector<std::string>;

class Connection {
 public:
  // `timeout` holds for the connecting and for every answer after it. ErrorCode::unavailable says why not.
  static Result<std::unique_ptr<Connection>> open(std::string_view url, Duration timeout);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // All of them in one round trip. ErrorCode::unavailable when an answer is missing or is an error: then the
  // connection is of no further use.
  Result<void> send(std::span<const Command> commands);

  // From now on it only listens: `descriptor` can be polled, `read` gives what has come on the channel.
  Result<void> subscribe(const std::string& channel);
  int descriptor() const;
  Result<std::vector<std::string>> read();

 private:
  struct Link;
  explicit Connection(std::unique_ptr<Link> link);
  std::unique_ptr<Link> link_;
};

}  // namespace cairn::redis
