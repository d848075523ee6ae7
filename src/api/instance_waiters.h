// Clients that wait for the end of an instance or for its next change (`?wait=`). They hold no request thread. The
// thread that answers a commit of this node passes the new state to them. One internal thread handles timeouts and
// instances that must be read.
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

#include "engine/core.h"

namespace cairn::api {

class InstanceWaiters {
 public:
  struct Seen {
    InstanceRow row;
    const Snapshot* snapshot = nullptr;  // set if it was passed by a commit; valid only during the call
  };

  // `core` must outlive it.
  explicit InstanceWaiters(EngineCore& core) : core_(core) {}
  ~InstanceWaiters();
  InstanceWaiters(const InstanceWaiters&) = delete;
  InstanceWaiters& operator=(const InstanceWaiters&) = delete;

  // `done` is called from the internal thread or a commit thread; it must not block.
  // Answers once: when the instance has ended or is suspended, or with its current state after `limit`.
  void wait(const InstanceId& id, std::chrono::milliseconds limit, Done<Result<Seen>> done);
  // The same, and also when its state version exceeds `after`.
  void wait_for_change(const InstanceId& id, std::uint64_t after, std::chrono::milliseconds limit,
                       Done<Result<Seen>> done);
  // Answers all waiters with the current state, and later ones at once: the server is shutting down.
  void close();
  // Registers a callback for `close`. Call this before the first request.
  void on_close(std::function<void()> closed) { on_close_.push_back(std::move(closed)); }
  // Registers a callback for `serve`: what only servers do, and not a command with a store of its own.
  void on_serve(std::function<void()> served) { on_serve_.push_back(std::move(served)); }
  void serve() {
    for (const auto& served : on_serve_) served();
  }
  std::size_t waiting() const;

 private:
  using Instant = std::chrono::steady_clock::time_point;
  struct Place {
    InstanceId id;
    std::optional<std::uint64_t> after;
    Instant until;
    Instant next_look;  // `until`, or earlier
    Done<Result<Seen>> done;
    std::shared_ptr<void> call;

    // Whether this state ends the wait. Clients that wait for a change already know that the instance is suspended.
    bool waits_for(std::uint64_t state_version, Status status) const {
      return is_final(status) || (after ? state_version > *after : status == Status::suspended);
    }
  };
  // Shared with callbacks, which may outlive this object.
  struct Line {
    // Removes and returns the place; empty if another thread took it.
    std::optional<Place> take(std::uint64_t number);
    // Requires the mutex. Schedules a look no later than `when`.
    void look_at(Instant when, std::uint64_t number);

    std::mutex mutex;
    std::condition_variable_any changed;
    std::map<std::uint64_t, Place> places;
    std::set<std::pair<Instant, std::uint64_t>> looks;
    std::set<std::uint64_t> told;
    Instant sleeps_until = Instant::max();  // of the internal thread
    bool closed = false;
  };

  void take(Place place);
  void run(const std::stop_token& stop);
  // Reads the instance of the place; removes the place if it was answered.
  void look(std::uint64_t number);
  Instant next_look(const Place& place) const;
  static void tell(Line& line, std::uint64_t number, const Snapshot* after);

  EngineCore& core_;
  const std::shared_ptr<Line> line_ = std::make_shared<Line>();
  std::vector<std::function<void()>> on_close_;
  std::vector<std::function<void()>> on_serve_;
  std::uint64_t last_ = 0;
  std::jthread thread_;  // started by the first waiter
};

}  // namespace cairn::api
