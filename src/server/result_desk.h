// Where clients wait for the end of an instance (`?wait=`): many of them, one thread. Whoever waits holds
// no request thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "coordinator/coordinator.h"

namespace cairn::server {

class ResultDesk {
 public:
  using Answer = std::function<void(Result<InstanceRow>)>;

  // `coordinator` outlives it.
  explicit ResultDesk(Coordinator& coordinator) : coordinator_(coordinator) {}
  ~ResultDesk();
  ResultDesk(const ResultDesk&) = delete;
  ResultDesk& operator=(const ResultDesk&) = delete;

  // Answers once: with the instance when it has ended or is suspended, or as it is when the time is over.
  // From the desk's thread.
  void wait(const InstanceId& id, std::chrono::milliseconds limit, Answer answer);
  std::size_t waiting() const;

 private:
  struct Place {
    InstanceId id;
    std::chrono::steady_clock::time_point until;
    Answer answer;
    std::shared_ptr<void> call;
  };

  void run(const std::stop_token& stop);
  // Looks at the place's instance; forgets the place when it was answered.
  void look(std::uint64_t number, bool over);

  Coordinator& coordinator_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::uint64_t, Place> places_;
  std::set<std::pair<std::chrono::steady_clock::time_point, std::uint64_t>> deadlines_;
  std::set<std::uint64_t> told_;
  std::uint64_t last_ = 0;
  std::jthread thread_;  // begins with the first who waits
};

}  // namespace cairn::server
