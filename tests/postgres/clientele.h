// Those who bring work to a cluster: they start generated workflows, complete every task, send every signal, and ask
// again with the same key until they are answered. They do none of the engine's work themselves.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cairn/engine.h"
#include "generated.h"

namespace cairn {

class Clientele {
 public:
  // Deploys the workflows. At most `outstanding` instances are under way at once.
  Clientele(const std::string& url, unsigned seed, std::size_t outstanding);
  ~Clientele();

  // Brings `count` more, from threads of its own; returns at once.
  void bring(std::size_t count);
  // No more starts; what has been started is seen to its end.
  void close();

  // What was acknowledged and is not known to have ended.
  std::set<std::string> under_way();
  std::size_t ended() const { return ended_; }
  bool all_ended() { return closed_or_done() && under_way().empty(); }
  // Polls until `done`, for at most this long.
  bool wait(std::chrono::milliseconds limit, const std::function<bool()>& done);

  // Every instance has completed, every effect happened once, every invariant holds: gtest failures otherwise.
  void judge(const std::string& ledger);
  Engine& engine() { return *engine_; }

 private:
  bool closed_or_done();
  void start_some();
  void start_one(std::size_t number);
  void see_to_people();
  void look_for_ends();

  std::unique_ptr<Engine> engine_;
  std::vector<GeneratedWorkflow> workflows_;
  const std::size_t outstanding_;
  std::atomic<bool> over_ = false;
  std::atomic<std::size_t> wanted_ = 0, next_ = 0, ended_ = 0, starting_ = 0;
  std::mutex mutex_;
  std::set<std::string> under_way_, all_;
  std::vector<std::jthread> threads_;
};

}  // namespace cairn
