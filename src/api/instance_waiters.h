// Where clients wait for the end of an instance or for its next change (`?wait=`). Whoever waits holds no request
// thread: what a commit of this node has made of an instance is handed to them by the thread that answers the commit,
// and one thread looks after those whose time is over or whose instance must be read.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "engine/coordinator.h"

namespace cairn::server {

class InstanceWaiters {
 public:
  struct Seen {
    InstanceRow row;
    const Snapshot* snapshot = nullptr;  // when it was handed over; only during the call
  };
  // From a thread of the desk or of the commit queue: it must be quick.
  using Answer = std::function<void(Result<Seen>)>;

  // `coordinator` outlives it.
  explicit InstanceWaiters(Coordinator& coordinator) : coordinator_(coordinator) {}
  ~InstanceWaiters();
  InstanceWaiters(const InstanceWaiters&) = delete;
  InstanceWaiters& operator=(const InstanceWaiters&) = delete;

  // Answers once: with the instance when it has ended or is suspended, or as it is when the time is over.
  void wait(const InstanceId& id, std::chrono::milliseconds limit, Answer answer);
  // The same, and also as soon as its version is past `after`.
  void wait_for_change(const InstanceId& id, std::uint64_t after, std::chrono::milliseconds limit, Answer answer);
  // Answers everybody with how it is now, and whoever comes later at once: the server is shutting down.
  void close();
  // Called when the desk closes, for others with whom clients wait. Before the first request.
  void on_close(std::function<void()> closed) { on_close_.push_back(std::move(closed)); }
  std::size_t waiting() const;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  struct Place {
    InstanceId id;
    std::optional<std::uint64_t> after;
    Instant until;
    Instant next_look;  // `until`, or sooner
    Answer answer;
    std::shared_ptr<void> call;

    // Whether it is what they wait for. Whoever waits for a change has seen that it is suspended.
    bool waits_for(std::uint64_t version, Status status) const {
      return is_final(status) || (after ? version > *after : status == Status::suspended);
    }
  };
  // What those who are told share with the desk, which they may outlive.
  struct Line {
    // Takes the place out, to be answered by the caller; nothing when somebody else did.
    std::optional<Place> take(std::uint64_t number);
    // With the mutex: it is to be looked at no later than at that time.
    void look_at(Instant when, std::uint64_t number);

    std::mutex mutex;
    std::condition_variable_any changed;
    std::map<std::uint64_t, Place> places;
    std::set<std::pair<Instant, std::uint64_t>> looks;
    std::set<std::uint64_t> told;
    Instant sleeps_until = Instant::max();  // of the thread
    bool closed = false;
  };

  void take(Place place);
  void run(const std::stop_token& stop);
  // Looks at the place's instance; forgets the place when it was answered.
  void look(std::uint64_t number);
  Instant next_look(const Place& place) const;
  static void tell(Line& line, std::uint64_t number, const Snapshot* after);

  Coordinator& coordinator_;
  const std::shared_ptr<Line> line_ = std::make_shared<Line>();
  std::vector<std::function<void()>> on_close_;
  std::uint64_t last_ = 0;
  std::jthread thread_;  // begins with the first who waits
};

}  // namespace cairn::server
