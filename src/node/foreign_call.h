// Calls into the program that embeds the engine: handlers and callbacks. Exceptions never leave this call.
#pragma once

#include <exception>
#include <string>

#include "base/log.h"

namespace cairn::node {

// While this lives, the calling thread is inside such a function. It cannot wait for the engine to stop, because the
// engine waits for it.
class ForeignCall {
 public:
  ForeignCall() { ++depth_; }
  ~ForeignCall() { --depth_; }
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;

  static bool here() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

// Runs the call; passes the text of an exception to `failed`.
template <class Call, class Failed>
auto call_foreign(const Call& call, const Failed& failed) -> decltype(call()) {
  const ForeignCall inside;
  try {
    return call();
  } catch (const std::exception& thrown) {
    return failed(std::string(thrown.what()));
  } catch (...) {
    return failed(std::string("an exception that is not a std::exception was thrown"));
  }
}

// Runs a callback without a result; an exception is logged.
template <class Call>
void call_back(const char* name, const Call& call) {
  call_foreign([&] { static_cast<void>(call()); },
               [&](const std::string& message) {
                 log_error("callback.threw", {{"callback", name}, {"message", message}});
               });
}

}  // namespace cairn::node
