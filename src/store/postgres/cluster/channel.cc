#include "store/postgres/cluster/channel.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <charconv>

#include "base/id.h"
#include "base/log.h"
#include "store/postgres/cluster/wakeup_text.h"
#include "store/postgres/wire/lock_key.h"

namespace cairn::postgres {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds notification_pause{5};  // between two notifications of one process
constexpr std::chrono::seconds echo_every{2};               // how often an idle node asks the server
constexpr std::chrono::seconds answer_within{3};            // later than that the channel is in doubt
constexpr std::chrono::seconds look_every{2};               // poll interval if no channel can work
constexpr std::size_t payload_bytes_max = 7000;             // PostgreSQL's own limit is 8000
constexpr int mutes_max = 3;                                // in a row, before polling takes over

}  // namespace

Channel::Channel(const Target& target, Callbacks callbacks)
    : target_(target),
      name_("cairn:" + target.schema),
      number_(lock_key("node", target.schema, new_uuid(callbacks.now())) & 0x1fffffff),
      node_("n" + std::to_string(number_)),
      callbacks_(std::move(callbacks)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      presence_(number_),
      thread_([this] { run(); }) {}

Channel::~Channel() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
  ::close(wake_);
}

bool Channel::stopping() {
  if (callbacks_.given_up()) return true;
  const std::lock_guard lock(mutex_);
  return stopping_;
}

Presence::Share Channel::share() {
  Presence::Share share;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !std::exchange(working_, true);
    share = presence_.share();
  }
  if (first) wake();
  return share;
}

void Channel::wake() {
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0 && errno != EAGAIN) log_error("postgres.channel_wake");
}

void Channel::tell(const Wakeup& wakeup) {
  {
    const std::lock_guard lock(mutex_);
    Wakeup told = wakeup;
    // A node with an earlier timer wakes up then and finds the later one.
    if (told.due && told_due_ && *told_due_ <= *told.due && *told_due_ > callbacks_.now()) told.due.reset();
    if (told.due) told_due_ = told.due;
    if (says_nothing(told) || !presence_.worth_telling()) return;
    merge_wakeup(pending_, told);
    if (has_pending_) return;
    has_pending_ = true;
  }
  wake();
}

void Channel::look_everywhere() {
  callbacks_.forget();
  {
    const std::lock_guard lock(mutex_);
    told_due_.reset();
  }
  callbacks_.hear(look_at_everything(callbacks_.now()));
}

void Channel::run() {
  int mutes = 0;
  bool said = false;
  std::string told_reason;  // why there was no connection, to log each reason once
  bool reached = true;
  while (!stopping()) {
    auto connection = Connection::open(target_);
    reached = connection.has_value();
    Doubt doubt = Doubt::lost;
    if (connection) {
      handle_ = (*connection)->handle();
      doubt = listen(**connection);
      handle_ = nullptr;
      // The connection worked, so the counters start over.
      if (echo_heard_ > 1) {
        mutes = 0;
        said = false;
      }
    }
    if (stopping()) break;
    {
      const std::lock_guard lock(mutex_);
      presence_.doubt();
    }
    // Statements are answered, but notifications never arrive. After several such attempts the node gives up the
    // channel.
    mutes += doubt == Doubt::mute ? 1 : 0;
    const bool hopeless = doubt == Doubt::pooled || (doubt == Doubt::mute && mutes > mutes_max);
    if (hopeless && !said) {
      said = true;
      log_warning("postgres.no_channel",
                  {{"reason", doubt == Doubt::pooled ? "there is a pooler in between; give this node a direct URL"
                                                     : "notifications do not come through"},
                   {"instead", "looks on a timer"},
                   {"seconds", static_cast<std::int64_t>(look_every.count())}});
    } else if (!hopeless) {
      const std::string reason = !connection ? connection.error().message
                                 : silent_   ? "no answer came"
                                             : "the connection was closed";
      if (reason != told_reason) log_warning("postgres.channel_lost", {{"reason", reason}});
      told_reason = connection ? "" : reason;
    }
    if (hopeless) {
      {
        const std::lock_guard lock(mutex_);
        presence_.clear();
      }
      callbacks_.hear(look_at_everything(callbacks_.now()));
    }
    pause(hopeless ? std::chrono::milliseconds(look_every) : std::chrono::milliseconds(200));
  }
  if (reached && !callbacks_.given_up()) say_farewell();
}

Channel::Doubt Channel::listen(Connection& connection) {
  if (PQexitPipelineMode(handle_) != 1) return Doubt::lost;
  if (connection.pooled()) {
    // This node hears nothing, but nodes with a channel hear it.
    say_pending();
    return Doubt::pooled;
  }
  PQsetnonblocking(handle_, 1);
  echo_sent_ = echo_heard_ = 0;
  std::vector<std::string> answer;
  if (!ask(("LISTEN \"" + name_ + "\"").c_str(), {}, answer)) return Doubt::lost;
  bool working = wants_work();
  if (!appear(working)) return Doubt::lost;
  if (!echo()) return answered_ && silent_ ? Doubt::mute : Doubt::lost;
  if (std::exchange(silent_, false)) callbacks_.silent();
  // The node listens now. Looking finds everything written before; notifications announce everything after.
  look_everywhere();
  log_info("postgres.listening", {{"channel", name_}});
  auto next_echo = Clock::now() + echo_every;
  while (!stopping()) {
    auto until = next_echo;
    {
      const std::lock_guard lock(mutex_);
      if (has_pending_) until = std::min(until, last_said_ + notification_pause);
    }
    if (!wait(until)) return Doubt::lost;
    read_notifications();
    if (!working && wants_work()) {
      working = true;
      if (!appear(true)) return Doubt::lost;
      next_echo = Clock::now();
    }
    if (!say_pending()) return Doubt::lost;
    if (Clock::now() >= next_echo) {
      if (!echo()) return Doubt::lost;
      next_echo = Clock::now() + echo_every;
    }
  }
  return Doubt::none;
}

// Only the stop interrupts this pause, because without a connection there is no node to notify.
void Channel::pause(std::chrono::milliseconds length) {
  const auto until = Clock::now() + length;
  while (!stopping() && Clock::now() < until) wait(until);
}

// Waits until something comes from the server or this process, or the time is over. False: the connection broke.
bool Channel::wait(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
  pollfd files[2] = {{wake_, POLLIN, 0}, {handle_ ? PQsocket(handle_) : -1, POLLIN, 0}};
  const int ready = ::poll(files, 2, static_cast<int>(std::max<std::int64_t>(left + (left > 0 ? 1 : 0), 0)));
  if (ready > 0 && (files[0].revents & POLLIN) != 0) {
    std::uint64_t count = 0;
    if (::read(wake_, &count, sizeof count) < 0 && errno != EAGAIN) return false;
  }
  if (handle_ == nullptr) return true;
  if ((files[1].revents & POLLIN) != 0 && PQconsumeInput(handle_) != 1) return false;
  return (files[1].revents & (POLLERR | POLLNVAL)) == 0 && PQstatus(handle_) == CONNECTION_OK;
}

// Waits for input; false if none comes in time, the connection broke, or the channel stops.
bool Channel::waited(Clock::time_point asked) {
  const auto until = asked + answer_within;
  if (Clock::now() >= until) {
    silent_ = true;
    return false;
  }
  return (!stopping() || leaving_) && wait(until);
}

bool Channel::ask(const char* text, const std::vector<std::string>& values, std::vector<std::string>& answer) {
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const std::string& value : values) pointers.push_back(value.c_str());
  answer.clear();
  if (PQsendQueryParams(handle_, text, static_cast<int>(values.size()), nullptr, pointers.data(), nullptr, nullptr,
                        0) != 1) {
    return false;
  }
  const auto asked = Clock::now();
  bool done = false;
  bool good = true;
  while (!done) {
    PQflush(handle_);
    while (PQisBusy(handle_) == 1) {
      if (!waited(asked)) return false;
    }
    PGresult* result = PQgetResult(handle_);
    if (result == nullptr) {
      done = true;
      continue;
    }
    const ExecStatusType status = PQresultStatus(result);
    good = good && (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK);
    if (status == PGRES_TUPLES_OK && PQntuples(result) > 0) {
      for (int column = 0; column < PQnfields(result); ++column) {
        answer.emplace_back(PQgetisnull(result, 0, column) ? "" : PQgetvalue(result, 0, column));
      }
    }
    PQclear(result);
  }
  read_notifications();
  return good;
}

bool Channel::wants_work() {
  const std::lock_guard lock(mutex_);
  return working_;
}

bool Channel::appear(bool working) {
  std::vector<std::string> answer;
  const std::string schema_class = std::to_string(present_class(target_.schema));
  const std::string place = std::to_string(2 * number_ + (working ? 1 : 0));
  return ask("SELECT pg_advisory_lock_shared($1::integer, $2::integer)", {schema_class, place}, answer) &&
         ask("SELECT pg_notify($1, $2)", {name_, node_ + (working ? "|w" : "|h")}, answer);
}

bool Channel::echo() {
  std::vector<std::string> answer;
  const std::string schema_class = std::to_string(static_cast<std::uint32_t>(present_class(target_.schema)));
  ++echo_sent_;
  answered_ = false;
  {
    const std::lock_guard lock(mutex_);
    presence_.asked();
  }
  if (!ask("SELECT pg_notify($1, $2), (SELECT string_agg(objid::text, ',') FROM pg_catalog.pg_locks WHERE locktype = "
           "'advisory' AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) AND "
           "classid = $3::oid AND objsubid = 2)",
           {name_, node_ + "|e" + std::to_string(echo_sent_), schema_class}, answer)) {
    return false;
  }
  answered_ = true;
  const auto asked = Clock::now();
  while (echo_heard_ < echo_sent_) {
    if (!waited(asked)) return false;
    read_notifications();
  }
  Presence::Nodes nodes;
  std::string_view list = answer.size() > 1 ? std::string_view(answer[1]) : std::string_view();
  while (!list.empty()) {
    std::int64_t place = 0;
    const auto end = std::from_chars(list.data(), list.data() + list.size(), place).ptr;
    nodes[place / 2] |= place % 2 == 1;
    list.remove_prefix(std::min(static_cast<std::size_t>(end - list.data()) + 1, list.size()));
  }
  bool gone = false;
  {
    const std::lock_guard lock(mutex_);
    const Presence::Change change = presence_.listed(std::move(nodes));
    if (change.must_look) make_all_look();
    gone = change.gone;
  }
  if (gone) {
    log_info("postgres.node_gone");
    callbacks_.hear(look_at_everything(callbacks_.now()));
  }
  return true;
}

void Channel::make_all_look() {
  merge_wakeup(pending_, look_at_everything(callbacks_.now()));
  has_pending_ = true;
}

void Channel::read_notifications() {
  while (PGnotify* notification = PQnotifies(handle_)) {
    const std::string payload = notification->extra;
    PQfreemem(notification);
    receive(payload);
  }
}

void Channel::receive(const std::string& payload) {
  const auto bar = payload.find('|');
  if (bar == std::string::npos) return;
  const std::string from = payload.substr(0, bar);
  std::string_view what = std::string_view(payload).substr(bar + 1);
  if (from == node_) {
    if (what.starts_with("e")) std::from_chars(what.data() + 1, what.data() + what.size(), echo_heard_);
    return;
  }
  if (what.starts_with("e")) return;
  if (what.starts_with("h") || what.starts_with("w")) {
    std::int64_t number = 0;
    std::from_chars(from.data() + 1, from.data() + from.size(), number);
    const std::lock_guard lock(mutex_);
    if (presence_.came(number, what.starts_with("w"))) make_all_look();
    return;
  }
  Wakeup wakeup = read_wakeup(what, callbacks_.now());
  if (wakeup.due) {
    const std::lock_guard lock(mutex_);
    if (!told_due_ || *wakeup.due < *told_due_) told_due_ = wakeup.due;
  }
  // A program that uses SQL does not tell when its lease ends or its run is due, so look now.
  if (from == "sql") wakeup.due = callbacks_.now();
  callbacks_.hear(wakeup);
}

bool Channel::say_pending() {
  Wakeup told;
  {
    const std::lock_guard lock(mutex_);
    if (!has_pending_ || (Clock::now() < last_said_ + notification_pause && !stopping_)) return true;
    told = std::exchange(pending_, {});
    has_pending_ = false;
  }
  last_said_ = Clock::now();
  std::vector<std::string> answer;
  for (const std::string& text : write_wakeup(told, payload_bytes_max)) {
    if (ask("SELECT pg_notify($1, $2)", {name_, node_ + "|" + text}, answer)) continue;
    const std::lock_guard lock(mutex_);
    merge_wakeup(pending_, told);
    has_pending_ = true;
    return false;
  }
  return true;
}

// Sends what was committed at the very end, or by a process that lived only briefly.
void Channel::say_farewell() {
  {
    const std::lock_guard lock(mutex_);
    if (!has_pending_) return;
  }
  auto connection = Connection::open(target_);
  if (!connection || PQexitPipelineMode((*connection)->handle()) != 1) return;
  handle_ = (*connection)->handle();
  leaving_ = true;
  say_pending();
  handle_ = nullptr;
}

}  // namespace cairn::postgres
