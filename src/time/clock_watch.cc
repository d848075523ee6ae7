#include "time/clock_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace cairn {

namespace {

// The timer never expires; only a change of the clock ends the wait.
bool arm(int timer) {
  itimerspec never{};
  never.it_value.tv_sec = INT32_MAX;
  never.it_value.tv_sec *= 4;
  return ::timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, nullptr) == 0;
}

}  // namespace

ClockWatch::ClockWatch(std::function<void()> was_set)
    : was_set_(std::move(was_set)),
      timer_(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK)),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
  // If the system cannot report changes, timers fire late by as much as the clock was set back.
  if (timer_ >= 0 && stop_ >= 0 && arm(timer_)) thread_ = std::jthread([this] { run(); });
}

ClockWatch::~ClockWatch() {
  const std::uint64_t one = 1;
  if (thread_.joinable() && ::write(stop_, &one, sizeof one) == sizeof one) thread_.join();
  if (timer_ >= 0) ::close(timer_);
  if (stop_ >= 0) ::close(stop_);
}

void ClockWatch::run() {
  for (;;) {
    pollfd watched[2] = {{timer_, POLLIN, 0}, {stop_, POLLIN, 0}};
    if (::poll(watched, 2, -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) return;
    std::uint64_t times = 0;
    if (::read(timer_, &times, sizeof times) < 0 && errno == ECANCELED) {
      if (!arm(timer_)) return;
      was_set_();
    }
  }
}

}  // namespace cairn
