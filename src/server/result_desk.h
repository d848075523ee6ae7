// Where clients wait for the end of an instance or for its next change (`?wait=`): many of them, one thread. Whoever
// waits holds no request thread.
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

#include "coordinator/coordinator.h"

namespace cairn::server {

class ResultDesk {
 public:
  struct Seen {
    InstanceRow row;
    std::optional<Snapshot> snapshot = {};  // when it was handed over
  };
  using Answer = std::function<void(Result<Seen>)>;

  // `coordinator` outlives it.
  explicit ResultDesk(Coordinator& coordinator) : coordinator_(coordinator) {}
  ~ResultDesk();
  ResultDesk(const ResultDesk&) = delete;
  ResultDesk& operator=(const ResultDesk&) = delete;

  // Answers once: with the instance when it has ended or is suspended, or as it is when the time is over.
  // From the desk's thread.
  void wait(const InstanceId& id, std::chrono::milliseconds limit, Answer answer);
  // The same, and also as soon as its version is past `after`.
  void wait_for_change(const InstanceId& id, std::uint64_t after, std::chrono::milliseconds limit, Answer answer);
  // Answers everybody with how it is now, and whoever comes later at once: the server is shutting down.
  void close();
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
    std::optional<Snapshot> seen = {};

    // Whether it is what they wait for. Whoever waits for a change has seen that it is suspended.
    bool waits_for(std::uint64_t version, Status status) const {
      return is_final(status) || (after ? version > *after : status == Status::suspended);
    }
  };

  void take(Place place);
  void run(const std::stop_token& stop);
  // Looks at the place's instance; forgets the place when it was answered.
  void look(std::uint64_t number);
  Instant next_look(const Place& place) const;

  Coordinator& coordinator_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::uint64_t, Place> places_;
  std::set<std::pair<Instant, std::uint64_t>> looks_;
  std::set<std::uint64_t> told_;
  std::uint64_t last_ = 0;
  bool closed_ = false;
  std::jthread thread_;  // begins with the first who waits
};

}  // namespace cairn::server
