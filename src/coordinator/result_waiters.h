// Those who wait for the end of an instance. A waiter registers, then looks at the store, then
// waits: an end between the two is not missed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "base/id.h"

namespace cairn {

class ResultWaiters {
 public:
  class Place {
   public:
    Place(ResultWaiters& waiters, const InstanceId& id);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    // False when the time is over. Each call waits for one more change.
    bool wait_until(std::chrono::steady_clock::time_point limit);

   private:
    friend class ResultWaiters;
    ResultWaiters& waiters_;
    std::string id_;
    std::condition_variable changed_;
    bool told_ = false;
  };

  void tell(const std::string& id);
  void tell_all();  // when the engine stops

 private:
  std::mutex mutex_;
  std::multimap<std::string, Place*> places_;
};

}  // namespace cairn
