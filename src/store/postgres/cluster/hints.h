// Wake-ups over Redis, in addition to the channel. They arrive sooner, above all where a pooler prevents the channel.
// They are only hints: the channel, or polling in its place, finds whatever is lost here. Redis may go away and return
// at any time.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "redis/connection.h"
#include "store/store.h"

namespace cairn::postgres {

class Hints {
 public:
  // `hear` is called on this object's thread with the wake-ups of other nodes.
  Hints(std::string url, const std::string& schema, std::function<void(const Wakeup&)> hear,
        std::function<Timestamp()> now);
  ~Hints();

  // Sends at most once every few milliseconds, and nothing while Redis is away.
  void tell(const Wakeup& wakeup);

 private:
  using Instant = std::chrono::steady_clock::time_point;
  void run();
  // Runs both connections until one fails or the object stops.
  Result<void> carry();
  Result<void> say_pending(redis::Connection& out);
  bool stopping();
  // Waits for this process, for `descriptor`, or until the time is over. True: the descriptor is ready.
  bool wait(Instant until, int descriptor);

  const std::string url_;
  const std::string channel_;
  const std::string node_;
  const std::function<void(const Wakeup&)> hear_;
  const std::function<Timestamp()> now_;
  const int wake_;

  std::mutex mutex_;
  Wakeup pending_;
  bool has_pending_ = false;
  bool connected_ = false;
  bool stopping_ = false;
  Instant last_said_;
  std::jthread thread_;
};

}  // namespace cairn::postgres
