// Where workers outside this process wait for runs: many of them, without a thread for each. Whoever
// came first is served first; those who ask for the same types cost one look at the store together.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "store/store.h"

namespace cairn {

class LeaseDesk {
 public:
  static constexpr std::size_t waiting_max = 10'000;

  using Answer = std::function<void(Result<std::vector<RunRow>>)>;
  // Whether somebody still listens. What is leased to nobody would wait for the end of its lease.
  using Listening = std::function<bool()>;

  // `store` outlives it.
  explicit LeaseDesk(Store& store);
  ~LeaseDesk();

  // `answer` is called once: at once when runs are ready, else when some have come, with none when the
  // time is over. From this thread or the desk's; it must not call back here.
  void ask(LeaseRequest request, std::chrono::milliseconds wait, Answer answer, Listening listening = {});
  // Runs may be ready. Quick, from any thread.
  void look();
  // Everybody who waits is answered with nothing; later ones are too, at once.
  void stop();

  std::size_t waiting() const;

 private:
  struct Place {
    LeaseRequest request;
    std::chrono::steady_clock::time_point until;
    Answer answer;
    Listening listening;
  };
  using Places = std::list<Place>;

  void run();
  // Leases for those who wait, in their order.
  void serve(Places& places, Places& answered);
  void end_overdue();

  Store& store_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Places waiting_;
  std::size_t serving_ = 0;  // taken out of the line for a look at the store
  bool look_ = false;
  bool stopping_ = false;
  std::jthread thread_;  // from the first one who waits on
};

}  // namespace cairn
