// How the nodes of a cluster wake each other: LISTEN and NOTIFY on a connection of their own.
//
// A notification only says where to look. The channel is proven: at intervals the node notifies itself, and
// when the echo does not come it connects again, listens, and only then looks once at everything. The same
// statement tells who else is there; when somebody is missing, what it may have left unsaid is looked for.
// Behind a pooler no channel can work: then it says so once and looks on a timer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "store/postgres/connection.h"
#include "store/store.h"

namespace cairn::postgres {

class Channel {
 public:
  // `hear` is called from the channel's thread with what other nodes told; `forget` before everything is
  // looked at again, after a doubt.
  Channel(const Target& target, std::function<void(const Wakeup&)> hear, std::function<void()> forget,
          std::function<Timestamp()> now);
  ~Channel();

  // Tells the other nodes, at most once every few milliseconds, and nobody when there are none.
  void tell(const Wakeup& wakeup);

  // Where this node stands among those that are there: a hint for sharing work out.
  struct Share {
    std::int64_t nodes = 1;
    std::int64_t place = 0;
  };
  Share share();

 private:
  enum class Doubt { none, lost, pooled };

  void run();
  Doubt listen(Connection& connection);
  // Sends one statement and reads until its answer is there; false when it does not come in time.
  bool ask(const char* text, const std::vector<std::string>& values, std::vector<std::string>& answer);
  bool wait(std::chrono::steady_clock::time_point until);
  void read_notifications();
  void receive(const std::string& payload);
  bool echo();
  bool say_pending();
  void look_everywhere();
  bool stopping();
  void see(std::set<std::string> present);

  const Target target_;
  const std::string name_;    // of the channel
  const std::string number_;  // of this node, among the present
  const std::string node_;
  const std::function<void(const Wakeup&)> hear_;
  const std::function<void()> forget_;
  const std::function<Timestamp()> now_;
  const int wake_;  // an event of the kernel: something to say, or stop

  std::mutex mutex_;
  Wakeup pending_;
  bool has_pending_ = false;
  bool stopping_ = false;
  std::set<std::string> present_;
  std::optional<Timestamp> told_due_;  // the earliest that everybody knows of

  pg_conn* handle_ = nullptr;  // of the thread
  std::int64_t echo_sent_ = 0;
  std::int64_t echo_heard_ = 0;
  std::chrono::steady_clock::time_point last_said_;
  std::jthread thread_;
};

}  // namespace cairn::postgres
