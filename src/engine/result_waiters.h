// Those who wait for the end of an instance. A waiter registers, then looks, then waits: an end between the two is
// not missed. An end that this node has committed is handed over; of others they only learn that there is one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/id.h"
#include "instance/snapshot.h"

namespace cairn {

// What they wait for: nothing goes on by itself.
inline bool is_final_or_suspended(Status status) { return is_final(status) || status == Status::suspended; }

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
    // What the instance has become, once somebody said so.
    std::optional<Snapshot> end();

   private:
    friend class ResultWaiters;
    ResultWaiters& waiters_;
    std::string id_;
    std::condition_variable changed_;
    bool told_ = false;
    std::optional<Snapshot> end_;
  };

  // `told` is called at each change for as long as the handle is kept, and perhaps once while it is dropped, from the
  // thread that answers the commit, with what a commit of this node has made of it, or with nothing when something
  // happened elsewhere. It must not block.
  using Told = std::function<void(const Snapshot* after)>;
  std::shared_ptr<void> call(const InstanceId& id, Told told);
  void tell(const std::string& id);
  // What a commit of this node has made of an instance. Who waits for its end is only told when it rests.
  void tell(const Snapshot& after);
  void tell_all();  // when the engine stops

 private:
  void tell_calls(const std::string& id, const Snapshot* after);

  std::mutex mutex_;
  std::multimap<std::string, Place*> places_;
  struct Calls {
    std::mutex mutex;
    std::multimap<std::string, Told> by_id;
  };
  std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();  // shared with the handles, which may live longer
};

}  // namespace cairn
