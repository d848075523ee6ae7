#include "store/postgres/cluster/hints.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/id.h"
#include "base/log.h"
#include "store/postgres/cluster/wakeup_text.h"

namespace cairn::postgres {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds hint_pause{5};  // between two hints of one process
constexpr std::chrono::seconds retry_after{1};
constexpr std::chrono::hours long_time{1};
constexpr std::size_t hint_bytes_max = 64 * 1024;
const Duration redis_answers_within = Duration::of_seconds(1);

}  // namespace

Hints::Hints(std::string url, const std::string& schema, std::function<void(const Wakeup&)> hear,
             std::function<Timestamp()> now)
    : url_(std::move(url)),
      channel_("cairn:" + schema),
      node_(new_uuid(now())),
      hear_(std::move(hear)),
      now_(std::move(now)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Hints::~Hints() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0) log_error("hints.stop");
  thread_.join();
  ::close(wake_);
}

bool Hints::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Hints::tell(const Wakeup& wakeup) {
  {
    const std::lock_guard lock(mutex_);
    if (!connected_) return;
    merge_wakeup(pending_, wakeup);
    if (std::exchange(has_pending_, true)) return;
  }
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0 && errno != EAGAIN) log_error("hints.wake");
}

void Hints::run() {
  bool said = false;
  while (!stopping()) {
    const auto carried = carry();
    bool worked = false;
    {
      const std::lock_guard lock(mutex_);
      worked = std::exchange(connected_, false);
      has_pending_ = false;
      pending_ = {};
    }
    if (stopping()) return;
    // Logged once for each outage, however long it lasts.
    if (worked || !said) {
      log_warning("hints.lost", {{"reason", carried ? "" : carried.error().message}, {"instead", "without hints"}});
    }
    said = true;
    const auto until = Clock::now() + retry_after;
    while (!stopping() && Clock::now() < until) wait(until, -1);
  }
}

Result<void> Hints::carry() {
  CAIRN_TRY(const auto in, redis::Connection::open(url_, redis_answers_within));
  CAIRN_TRY(const auto out, redis::Connection::open(url_, redis_answers_within));
  CAIRN_TRY_VOID(in->subscribe(channel_));
  {
    const std::lock_guard lock(mutex_);
    connected_ = true;
  }
  log_info("hints.listening", {{"channel", channel_}});
  hear_(look_at_everything(now_()));
  while (!stopping()) {
    auto until = Clock::now() + long_time;
    {
      const std::lock_guard lock(mutex_);
      if (has_pending_) until = last_said_ + hint_pause;
    }
    if (wait(until, in->descriptor())) {
      CAIRN_TRY(const auto messages, in->read());
      Wakeup heard;
      for (const std::string& message : messages) {
        const auto bar = message.find('|');
        if (bar == std::string::npos || message.compare(0, bar, node_) == 0) continue;
        merge_wakeup(heard, read_wakeup(std::string_view(message).substr(bar + 1), now_()));
      }
      if (!says_nothing(heard)) hear_(heard);
    }
    CAIRN_TRY_VOID(say_pending(*out));
  }
  return {};
}

Result<void> Hints::say_pending(redis::Connection& out) {
  Wakeup told;
  {
    const std::lock_guard lock(mutex_);
    if (!has_pending_ || Clock::now() < last_said_ + hint_pause) return {};
    told = std::exchange(pending_, {});
    has_pending_ = false;
    last_said_ = Clock::now();
  }
  std::vector<redis::Command> commands;
  for (const std::string& text : write_wakeup(told, hint_bytes_max)) {
    commands.push_back({"PUBLISH", channel_, node_ + "|" + text});
  }
  return out.send(commands);
}

bool Hints::wait(Instant until, int descriptor) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
  pollfd files[2] = {{wake_, POLLIN, 0}, {descriptor, POLLIN, 0}};
  ::poll(files, 2, static_cast<int>(std::max<std::int64_t>(left + (left > 0 ? 1 : 0), 0)));
  std::uint64_t count = 0;
  if ((files[0].revents & POLLIN) != 0 && ::read(wake_, &count, sizeof count) < 0) log_error("hints.wake");
  return (files[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

}  // namespace cairn::postgres
