// A call into the program that embeds the engine: a handler, a callback. Whatever it throws stays there.
#pragma once

#include <exception>
#include <string>

#include "base/log.h"

namespace cairn {

// The calling thread is inside such a function for as long as this lives: it cannot wait for the engine to end, which
// waits for it.
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

// Calls it, and gives what it threw to `failed`, as text.
template <class Call, class Failed>
auto call_foreign(const Call& call, const Failed& failed) -> decltype(call()) {
  const ForeignCall inside;
  try {
    return call();
  } catch (const std::exception& thrown) {
    return failed(std::string(thrown.what()));
  } catch (...) {
    return failed(std::string("something that is not a std::exception was thrown"));
  }
}

// A callback of which nobody expects anything: a line in the log tells what it threw.
template <class Call>
void call_back(const char* name, const Call& call) {
  call_foreign([&] { static_cast<void>(call()); },
               [&](const std::string& message) {
                 log_error("callback.threw", {{"callback", name}, {"message", message}});
               });
}

}  // namespace cairn
