// Alerts: a filter and a threshold. When more instances match for long enough, the server writes the event
// `cairn.alert.raised` to the outbox, and `cairn.alert.cleared` when it is over. Sinks deliver both like other events:
// signed, repeated until the receiver has them. One server of a store checks them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/core.h"

namespace cairn::api {

inline constexpr const char* alert_kind = "alert";

class Alerts {
 public:
  explicit Alerts(EngineCore& core, std::chrono::milliseconds every = std::chrono::seconds(10))
      : core_(core), every_(every) {}
  ~Alerts();

  // Checks the alerts from time to time. Only for servers.
  void serve();
  // An alert was changed or removed on this server.
  void changed();
  // Checks all alerts now. Returns how many were raised or cleared.
  Result<int> check();

 private:
  // Checks them if this server is the one that does. Returns whether there may be any.
  bool check_if_mine();
  Result<bool> check(const DocumentRow& row);
  void run(const std::stop_token& stop);

  EngineCore& core_;
  const std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool may_exist_ = true;
  std::jthread thread_;
};

}  // namespace cairn::api
