// Wake-ups over Redis, beside the channel: they come sooner, above all where a pooler keeps the channel from working.
// Only hints: whatever is lost here is found by the channel or by the timer that stands in for it, so Redis may go
// away and come back at any moment.
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
  // `hear` is called from the thread of this object with what other nodes told.
  Hints(std::string url, const std::string& schema, std::function<void(const Wakeup&)> hear,
        std::function<Timestamp()> now);
  ~Hints();

  // At most once every few milliseconds; while Redis is away nobody.
  void tell(const Wakeup& wakeup);

 private:
  using Instant = std::chrono::steady_clock::time_point;
  void run();
  // Both connections, until one fails or the end.
  Result<void> carry();
  Result<void> say_pending(redis::Connection& out);
  bool stopping();
  // Until something comes, from this process or on `descriptor`, or the time is over. True: on the descriptor.
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
