#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace cairn::sim {

namespace {

constexpr std::size_t stack_bytes = 1u << 20;

// Stacks of fibers that ended, to be used again. Those of abandoned ones stay as they are.
std::vector<std::byte*>& free_stacks() {
  static std::vector<std::byte*> stacks;
  return stacks;
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)) {
  auto& stacks = free_stacks();
  if (stacks.empty()) {
    void* fresh = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    CAIRN_ASSERT(fresh != MAP_FAILED);
    stack_ = static_cast<std::byte*>(fresh);
  } else {
    stack_ = stacks.back();
    stacks.pop_back();
  }
  CAIRN_ASSERT(::getcontext(&own_) == 0);
  own_.uc_stack.ss_sp = stack_;
  own_.uc_stack.ss_size = stack_bytes;
  own_.uc_link = &resumer_;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&own_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self),
                static_cast<unsigned>(self >> 32));
}

Fiber::~Fiber() {
  if (ended_) free_stacks().push_back(stack_);
}

void Fiber::enter(unsigned low, unsigned high) {
  auto* self = reinterpret_cast<Fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
  self->body_();
  self->ended_ = true;
}

void Fiber::resume() { CAIRN_ASSERT(::swapcontext(&resumer_, &own_) == 0); }

void Fiber::suspend() { CAIRN_ASSERT(::swapcontext(&own_, &resumer_) == 0); }

}  // namespace cairn::sim
