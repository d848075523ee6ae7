// The clients of a cluster. They start generated workflows, complete every task, send every signal, and repeat each
// request with the same key until it is answered. They do none of the engine's work.
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
  // Deploys the workflows. At most `outstanding` instances are active at once.
  Clientele(const std::string& url, unsigned seed, std::size_t outstanding);
  ~Clientele();

  // Starts `count` more from its own threads; returns at once.
  void bring(std::size_t count);
  // Starts no more instances; those started are completed.
  void close();

  // Acknowledged instances that are not known to have ended.
  std::set<std::string> unfinished();
  std::size_t ended() const { return ended_; }
  bool all_ended() { return closed_or_done() && unfinished().empty(); }
  // Polls until `done` returns true, for at most `limit`.
  bool wait(std::chrono::milliseconds limit, const std::function<bool()>& done);

  // Checks that every instance has completed, every effect happened once and every invariant holds. Failures are gtest
  // failures.
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
  std::set<std::string> unfinished_, all_;
  std::vector<std::jthread> threads_;
};

}  // namespace cairn
