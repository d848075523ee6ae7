// One activity with its own stack, so that a node can be stopped at any point. An abandoned fiber is never unwound,
// like a killed process.
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

  // Runs it until it suspends or ends. Must not be called inside a fiber.
  void resume();
  // Call inside the running fiber: returns to the caller of `resume`.
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
