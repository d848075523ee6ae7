// One activity with a stack of its own, so that a node can be stopped in the middle of anything and
// left there: an abandoned fiber is never unwound, as a killed process is not.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace cairn::sim {

class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs it until it suspends or ends. Not from inside a fiber.
  void resume();
  // From inside the running fiber: back to whoever resumed it.
  void suspend();
  bool ended() const { return ended_; }

 private:
  static void enter(unsigned low, unsigned high);

  std::function<void()> body_;
  std::byte* stack_ = nullptr;
  ucontext_t own_{};
  ucontext_t resumer_{};
  bool ended_ = false;
};

}  // namespace cairn::sim
