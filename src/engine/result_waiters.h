// Callers that wait for the end of an instance. A waiter registers, then reads the store, then waits, so it misses no
// end. It receives the snapshot of an end that this node commits. After an end on another node it reads the store.
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

// Whether an instance in this status does nothing by itself: the status that waiters wait for.
inline bool is_final_or_suspended(Status status) { return is_final(status) || status == Status::suspended; }

class ResultWaiters {
 public:
  class Place {
   public:
    Place(ResultWaiters& waiters, const InstanceId& id);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    // False after `limit`. Each call waits for one more change.
    bool wait_until(std::chrono::steady_clock::time_point limit);
    // The last snapshot, if this node committed the end.
    std::optional<Snapshot> end();

   private:
    friend class ResultWaiters;
    ResultWaiters& waiters_;
    std::string id_;
    std::condition_variable changed_;
    bool told_ = false;
    std::optional<Snapshot> end_;
  };

  // `changed` is called at each change until the handle is destroyed, and perhaps once more meanwhile. The thread that
  // answers the commit calls it. `after` is the snapshot that this node committed; null: another node changed the
  // instance. It must not block.
  using Changed = std::function<void(const Snapshot* after)>;
  std::shared_ptr<void> call(const InstanceId& id, Changed changed);
  void tell(const std::string& id);
  // The state after a commit of this node. Waiters for the end are woken only if it is final or suspended.
  void tell(const Snapshot& after);
  void tell_all();  // when the engine stops

 private:
  void tell_calls(const std::string& id, const Snapshot* after);

  std::mutex mutex_;
  std::multimap<std::string, Place*> places_;
  struct Calls {
    std::mutex mutex;
    std::multimap<std::string, Changed> by_id;
  };
  std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();  // shared with the handles, which may live longer
};

}  // namespace cairn
