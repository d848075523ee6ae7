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
#include <thread>
#include <vector>

#include "store/postgres/wire/connection.h"
#include "store/postgres/cluster/presence.h"
#include "store/store.h"

namespace cairn::postgres {

class Channel {
 public:
  // Called from the channel's thread.
  struct Callbacks {
    std::function<void(const Wakeup&)> hear;  // what other nodes told
    std::function<void()> forget;             // before everything is looked at again, after a doubt
    std::function<void()> silent;             // the server answers a new connection, but did not answer the old one
    std::function<Timestamp()> now;
  };
  Channel(const Target& target, Callbacks callbacks);
  ~Channel();

  // Tells the other nodes, at most once every few milliseconds, and nobody when there are none.
  void tell(const Wakeup& wakeup);

  // Whoever asks takes work from now on; who never does (a client, a command) only listens and has no share.
  Presence::Share share();

 private:
  enum class Doubt { none, lost, mute, pooled };
  using Instant = std::chrono::steady_clock::time_point;

  void run();
  Doubt listen(Connection& connection);
  // Sends one statement and reads until its answer is there; false when it does not come in time.
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
  // Lets the others see this node, for as long as the connection lasts.
  bool appear(bool working);
  void make_all_look();  // under the lock

  const Target target_;
  const std::string name_;     // of the channel
  const std::int64_t number_;  // of this node, among the present
  const std::string node_;
  const Callbacks callbacks_;
  const int wake_;  // an event of the kernel: something to say, or stop

  std::mutex mutex_;
  Wakeup pending_;
  bool has_pending_ = false;
  bool stopping_ = false;
  bool working_ = false;  // has asked for a share
  Presence presence_;
  std::optional<Timestamp> told_due_;  // the earliest that everybody knows of

  pg_conn* handle_ = nullptr;  // of the thread
  bool leaving_ = false;
  bool answered_ = false;  // the last echo's statement was, whether or not its notification came
  bool silent_ = false;    // a question was not answered, and no new connection has worked since
  std::int64_t echo_sent_ = 0;
  std::int64_t echo_heard_ = 0;
  std::chrono::steady_clock::time_point last_said_;
  std::jthread thread_;
};

}  // namespace cairn::postgres
