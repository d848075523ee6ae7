// src/base holds what every other module needs: Result, JSON, ids, text, time, clocks, hashes and the log. It uses only
// the standard library and OpenSSL's libcrypto, and it knows nothing of workflows. Read this file first, then json.h.
//
// A Result<T> is a value or an Error that says why there is no value. The function to read first is the macro CAIRN_TRY
// at the end of this file. The names follow std::expected, so a later switch to it is a rename.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cairn {

// What a caller can do about an error; the command line and the HTTP API map each to one status.
enum class ErrorCode {
  invalid,      // the input is wrong; the message says where and how
  not_found,    // no such thing
  conflict,     // another caller was first, or the name is taken
  not_allowed,  // the caller may not do this
  limit,        // a documented limit was passed
  unavailable,  // a store, file or server cannot be reached now
  corrupt,      // a stored row is inconsistent
  unsupported,  // valid, but not by this build or this version
  internal,     // a library failed in a way that cairn has no plan for
};

const char* to_string(ErrorCode code);

// A part of the input that is wrong.
struct ErrorPlace {
  std::string pointer;  // JSON pointer into the request: /input/customer
  std::string message;

  bool operator==(const ErrorPlace&) const = default;
};

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::vector<ErrorPlace> places = {};  // of ErrorCode::invalid, if they are known

  bool operator==(const Error&) const = default;
};

// The same error with "context: " before its message.
Error with_context(Error error, const std::string& context);

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

// Ends the process on a bug in our own code, in release builds too. User input and stored rows never trigger it.
#define CAIRN_ASSERT(expression) \
  ((expression) ? static_cast<void>(0) : ::cairn::assertion_failed(#expression, __FILE__, __LINE__))

template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = E;

  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(E error) : held_(std::in_place_index<1>, std::move(error)) {}
  template <class U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, E> && !std::is_same_v<std::remove_cvref_t<U>, Result>)
      Result(U&& value)
      : held_(std::in_place_index<0>, std::forward<U>(value)) {}

  bool has_value() const { return held_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }
  T value_or(T other) && { return has_value() ? std::move(checked()) : std::move(other); }

  E& error() & { return checked_error(); }
  const E& error() const& { return const_cast<Result*>(this)->checked_error(); }
  E&& error() && { return std::move(checked_error()); }

 private:
  T& checked() {
    CAIRN_ASSERT(held_.index() == 0);
    return *std::get_if<0>(&held_);
  }
  E& checked_error() {
    CAIRN_ASSERT(held_.index() == 1);
    return *std::get_if<1>(&held_);
  }

  std::variant<T, E> held_;
};

template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  using value_type = void;
  using error_type = E;

  Result() = default;
  Result(E error) : error_(std::move(error)) {}

  bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }

  E& error() & { return checked_error(); }
  const E& error() const& { return const_cast<Result*>(this)->checked_error(); }
  E&& error() && { return std::move(checked_error()); }

 private:
  E& checked_error() {
    CAIRN_ASSERT(error_.has_value());
    return *error_;
  }

  std::optional<E> error_;
};

#define CAIRN_CONCAT_INNER(a, b) a##b
#define CAIRN_CONCAT(a, b) CAIRN_CONCAT_INNER(a, b)
#define CAIRN_TRY_NAMED(result, declaration, expression)     \
  auto result = (expression);                                \
  if (!result.has_value()) return std::move(result).error(); \
  declaration = std::move(result).value()

// CAIRN_TRY(const Snapshot before, store.find(id)); returns the error from this function or continues with the value.
#define CAIRN_TRY(declaration, expression) \
  CAIRN_TRY_NAMED(CAIRN_CONCAT(cairn_result_, __LINE__), declaration, expression)

// The same for a Result<void>, or when the caller does not need the value.
#define CAIRN_TRY_VOID(expression)                                         \
  do {                                                                     \
    auto cairn_result = (expression);                                      \
    if (!cairn_result.has_value()) return std::move(cairn_result).error(); \
  } while (false)

}  // namespace cairn
