// A function in steps: it may wait in the middle (co_await) and goes on when whoever it waits for resumes it, on the
// thread that does. Much lighter than a coroutine that knows executors: a connection has one thread anyway.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace cairn::server {

namespace steps {

// The caller goes on where it waits, if it has to: one that was not left waiting sees for itself that this has ended.
// So a loop of steps that never wait stays where it is on the stack, whatever the compiler makes of it.
struct Ending {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
    const std::coroutine_handle<> caller = ended.promise().caller;
    if (caller) caller.resume();  // which may destroy what has ended: nothing of it is touched after this
  }
  void await_resume() const noexcept {}
};

struct Promise {
  std::suspend_always initial_suspend() const noexcept { return {}; }
  Ending final_suspend() const noexcept { return {}; }
  void unhandled_exception() { failure = std::current_exception(); }
  std::coroutine_handle<> caller;
  std::exception_ptr failure;
};

// What the steps give in the end.
template <class T>
struct Given {
  void return_value(T value) { given.emplace(std::move(value)); }
  T take() { return std::move(*given); }
  std::optional<T> given;
};
template <>
struct Given<void> {
  void return_void() const noexcept {}
  void take() const noexcept {}
};

}  // namespace steps

// Begins when it is awaited, or resumed the first time. Destroyed with everything that it waits for.
template <class T = void>
class [[nodiscard]] Steps {
 public:
  struct promise_type : steps::Promise, steps::Given<T> {
    Steps get_return_object() { return Steps(std::coroutine_handle<promise_type>::from_promise(*this)); }
  };

  Steps(Steps&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Steps& operator=(Steps&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Steps() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) {
    handle_.resume();
    if (handle_.done()) return false;
    handle_.promise().caller = caller;
    return true;
  }
  T await_resume() {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
    return handle_.promise().take();
  }

  // For those that nobody awaits.
  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return handle_.done(); }

 private:
  explicit Steps(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace cairn::server
