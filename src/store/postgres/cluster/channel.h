// The wake-up channel between the nodes of a cluster: LISTEN and NOTIFY on a separate connection.
//
// A notification only tells where to look. The node tests the channel by notifying itself at intervals. If the echo
// does not arrive, it reconnects, listens, and only then looks at everything once. The same statement lists the present
// nodes. If a node has disappeared, the others look for work that it may not have announced. Behind a pooler no channel
// can work: then the node logs it once and polls.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "store/postgres/cluster/presence.h"
#include "store/postgres/wire/connection.h"
#include "store/store.h"

namespace cairn::postgres {

class Channel {
 public:
  // Called on the channel's thread.
  struct Callbacks {
    std::function<void(const Wakeup&)> hear;  // the wake-ups of other nodes
    std::function<void()> forget;             // called before everything is looked at again, after a doubt
    std::function<void()> silent;             // the server answers a new connection but not the old one
    std::function<Timestamp()> now;
    std::function<bool()> given_up;  // the node stops, and the server does not answer
  };
  Channel(const Target& target, Callbacks callbacks);
  ~Channel();

  // Notifies the other nodes, at most once every few milliseconds; does nothing if there are none.
  void tell(const Wakeup& wakeup);

  // A caller takes work from now on. A process that never calls it (a client, a command) only listens and has no share.
  Presence::Share share();

 private:
  enum class Doubt { none, lost, mute, pooled };
  using Instant = std::chrono::steady_clock::time_point;

  void run();
  Doubt listen(Connection& connection);
  // Sends one statement and reads until its answer arrives; false if it does not arrive in time.
  bool ask(const char* text, const std::vector<std::string>& values, std::vector<std::string>& answer);
  bool wait(Instant until);
  bool waited(Instant asked);
  void read_notifications();
  void receive(const std::string& payload);
  bool echo();
  bool say_pending();
  void look_everywhere();
  bool stopping();
  void wake();
  void pause(std::chrono::milliseconds length);
  void say_farewell();
  bool wants_work();
  // Makes this node visible to the others while the connection lasts.
  bool appear(bool working);
  void make_all_look();  // the caller holds the lock

  const Target target_;
  const std::string name_;     // the name of the channel
  const std::int64_t number_;  // the number of this node
  const std::string node_;
  const Callbacks callbacks_;
  const int wake_;  // an eventfd: something to send, or stop

  std::mutex mutex_;
  Wakeup pending_;
  bool has_pending_ = false;
  bool stopping_ = false;
  bool working_ = false;  // has asked for a share
  Presence presence_;
  std::optional<Timestamp> told_due_;  // the earliest instant that all nodes know

  pg_conn* handle_ = nullptr;  // used by the thread only
  bool leaving_ = false;
  bool answered_ = false;  // the last echo's statement was answered, with or without its notification
  bool silent_ = false;    // a statement was not answered, and no new connection has worked since
  std::int64_t echo_sent_ = 0;
  std::int64_t echo_heard_ = 0;
  std::chrono::steady_clock::time_point last_said_;
  std::jthread thread_;
};

}  // namespace cairn::postgres
