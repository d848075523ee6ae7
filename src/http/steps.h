// A minimal coroutine for functions in steps. It may wait (co_await) and continues on the thread that resumes it. It is
// much lighter than a coroutine that knows executors; a connection has only one thread anyway.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace cairn::http {

namespace steps {

// Resumes the caller only if the caller suspended. A caller that did not suspend notices the end itself. A loop of
// steps that never wait therefore does not grow the stack, independent of compiler optimizations.
struct Ending {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
    const std::coroutine_handle<> caller = ended.promise().caller;
    if (caller) caller.resume();  // this may destroy the ended coroutine: do not touch it afterwards
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

// The result of the steps.
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

// Starts when it is awaited or first resumed. Destroying it destroys everything that it waits for.
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

  // For coroutines that are not awaited.
  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return handle_.done(); }

 private:
  explicit Steps(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace cairn::http
