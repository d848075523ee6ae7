// A function in steps: it may wait in the middle (co_await) and goes on when whoever it waits for resumes it, on the
// thread that does. Much lighter than a coroutine that knows executors: a connection has one thread anyway.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace cairn::server {

namespace steps {

struct Ending {  // the caller goes on where it waits
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
    const std::coroutine_handle<> caller = ended.promise().caller;
    return caller ? caller : std::coroutine_handle<>(std::noop_coroutine());
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

}  // namespace steps

// Begins when it is awaited, or resumed the first time. Destroyed with everything that it waits for.
template <class T = void>
class [[nodiscard]] Steps {
 public:
  struct promise_type : steps::Promise {
    Steps get_return_object() { return Steps(std::coroutine_handle<promise_type>::from_promise(*this)); }
    void return_value(T given) { value.emplace(std::move(given)); }
    std::optional<T> value;
  };

  Steps(Steps&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Steps& operator=(Steps&&) = delete;
  ~Steps() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  T await_resume() {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
    return std::move(*handle_.promise().value);
  }

 private:
  explicit Steps(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

template <>
class [[nodiscard]] Steps<void> {
 public:
  struct promise_type : steps::Promise {
    Steps get_return_object() { return Steps(std::coroutine_handle<promise_type>::from_promise(*this)); }
    void return_void() const noexcept {}
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
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  void await_resume() const {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
  }

  // For those that nobody awaits.
  std::coroutine_handle<> handle() const { return handle_; }
  bool done() const { return handle_.done(); }

 private:
  explicit Steps(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace cairn::server
