#include "store/postgres/channel.h"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <charconv>

#include "base/id.h"
#include "base/log.h"
#include "store/postgres/lock_key.h"

namespace cairn::postgres {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds quiet{5};     // between two notifications of one process
constexpr std::chrono::seconds echo_every{2};     // what an idle node asks the server
constexpr std::chrono::seconds answer_within{3};  // then the channel is in doubt
constexpr std::chrono::seconds look_every{2};     // where no channel can work
constexpr std::size_t payload_bytes_max = 7000;   // PostgreSQL's own limit is 8000
constexpr int doubts_max = 3;                     // in a row, before the timer takes over

Wakeup everything(Timestamp now) {
  Wakeup wakeup;
  wakeup.messages = wakeup.runs = wakeup.outbox = wakeup.definitions = true;
  wakeup.due = now;
  wakeup.ended.push_back({});  // nobody in particular: whoever waits for an end shall look
  return wakeup;
}

}  // namespace

Channel::Channel(const Target& target, std::function<void(const Wakeup&)> hear, std::function<void()> forget,
                 std::function<Timestamp()> now)
    : target_(target),
      name_("cairn:" + target.schema),
      number_(std::to_string(lock_key("node", target.schema, new_uuid(now())) & 0x7fffffff)),
      node_("n" + number_),
      hear_(std::move(hear)),
      forget_(std::move(forget)),
      now_(std::move(now)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Channel::~Channel() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0) log_error("postgres.channel_stop");
  thread_.join();
  ::close(wake_);
}

bool Channel::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

Channel::Share Channel::share() {
  const std::lock_guard lock(mutex_);
  const auto own = present_.find(number_);
  if (own == present_.end()) return {};
  return {static_cast<std::int64_t>(present_.size()), std::distance(present_.begin(), own)};
}

void Channel::tell(const Wakeup& wakeup) {
  {
    const std::lock_guard lock(mutex_);
    const bool alone = present_.size() < 2;
    std::optional<Timestamp> due = wakeup.due;
    // Whoever is armed for an earlier time will look then and find the later one.
    if (due && told_due_ && *told_due_ <= *due && *told_due_ > now_()) due.reset();
    if (due) told_due_ = due;
    if (alone) return;
    if (!wakeup.messages && !wakeup.runs && !wakeup.outbox && !wakeup.definitions && !due && wakeup.ended.empty()) {
      return;
    }
    pending_.messages |= wakeup.messages;
    pending_.runs |= wakeup.runs;
    pending_.outbox |= wakeup.outbox;
    pending_.definitions |= wakeup.definitions;
    if (due && (!pending_.due || *due < *pending_.due)) pending_.due = due;
    pending_.ended.insert(pending_.ended.end(), wakeup.ended.begin(), wakeup.ended.end());
    if (has_pending_) return;
    has_pending_ = true;
  }
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) < 0 && errno != EAGAIN) log_error("postgres.channel_wake");
}

void Channel::look_everywhere() {
  forget_();
  {
    const std::lock_guard lock(mutex_);
    told_due_.reset();
  }
  hear_(everything(now_()));
}

void Channel::run() {
  int doubts = 0;
  bool said = false;
  while (!stopping()) {
    auto connection = Connection::open(target_);
    Doubt doubt = Doubt::lost;
    if (connection) {
      handle_ = (*connection)->handle();
      doubt = listen(**connection);
      handle_ = nullptr;
      // It worked until now: a fresh start for the count.
      if (echo_heard_ > 1) doubts = 0;
    }
    if (stopping()) return;
    ++doubts;
    const bool hopeless = doubt == Doubt::pooled || (connection && doubts > doubts_max);
    if (hopeless && !said) {
      said = true;
      log_warning("postgres.no_channel",
                  {{"reason", doubt == Doubt::pooled ? "there is a pooler in between; give this node a direct URL"
                                                     : "notifications do not come through"},
                   {"instead", "looks on a timer"},
                   {"seconds", static_cast<std::int64_t>(look_every.count())}});
    } else if (!hopeless) {
      log_warning("postgres.channel_lost",
                  {{"reason", connection ? "the echo did not come" : connection.error().message}});
    }
    if (hopeless) {
      {
        const std::lock_guard lock(mutex_);
        present_.clear();
      }
      hear_(everything(now_()));
    }
    wait(Clock::now() + (hopeless ? std::chrono::milliseconds(look_every) : std::chrono::milliseconds(200)));
  }
}

Channel::Doubt Channel::listen(Connection& connection) {
  if (connection.pooled()) return Doubt::pooled;
  if (PQexitPipelineMode(handle_) != 1) return Doubt::lost;
  PQsetnonblocking(handle_, 1);
  echo_sent_ = echo_heard_ = 0;
  std::vector<std::string> answer;
  const std::string schema_class = std::to_string(static_cast<std::int32_t>(lock_key("present", target_.schema)));
  if (!ask(("LISTEN \"" + name_ + "\"").c_str(), {}, answer)) return Doubt::lost;
  if (!ask("SELECT pg_advisory_lock_shared($1::integer, $2::integer)", {schema_class, number_}, answer)) {
    return Doubt::lost;
  }
  if (!ask("SELECT pg_notify($1, $2)", {name_, node_ + "|h"}, answer)) return Doubt::lost;
  if (!echo()) return Doubt::lost;
  // Listening now: what was written before is found by looking, what comes after is told.
  look_everywhere();
  log_info("postgres.listening", {{"channel", name_}});
  auto next_echo = Clock::now() + echo_every;
  while (!stopping()) {
    auto until = next_echo;
    {
      const std::lock_guard lock(mutex_);
      if (has_pending_) until = std::min(until, last_said_ + quiet);
    }
    if (!wait(until)) return Doubt::lost;
    read_notifications();
    if (!say_pending()) return Doubt::lost;
    if (Clock::now() >= next_echo) {
      if (!echo()) return Doubt::lost;
      next_echo = Clock::now() + echo_every;
    }
  }
  return Doubt::none;
}

// Until something comes from the server or from this process, or the time is over. False: the connection broke.
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

bool Channel::ask(const char* text, const std::vector<std::string>& values, std::vector<std::string>& answer) {
  std::vector<const char*> pointers;
  for (const std::string& value : values) pointers.push_back(value.c_str());
  answer.clear();
  if (PQsendQueryParams(handle_, text, static_cast<int>(values.size()), nullptr, pointers.data(), nullptr, nullptr,
                        0) != 1) {
    return false;
  }
  const auto until = Clock::now() + answer_within;
  bool done = false;
  bool good = true;
  while (!done) {
    PQflush(handle_);
    while (PQisBusy(handle_) == 1) {
      if (Clock::now() >= until || stopping() || !wait(until)) return false;
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

bool Channel::echo() {
  std::vector<std::string> answer;
  const std::string schema_class =
      std::to_string(static_cast<std::uint32_t>(static_cast<std::int32_t>(lock_key("present", target_.schema))));
  ++echo_sent_;
  if (!ask("SELECT pg_notify($1, $2), (SELECT string_agg(objid::text, ',') FROM pg_catalog.pg_locks WHERE locktype = "
           "'advisory' AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) AND "
           "classid = $3::oid AND objsubid = 2)",
           {name_, node_ + "|e" + std::to_string(echo_sent_), schema_class}, answer)) {
    return false;
  }
  const auto until = Clock::now() + answer_within;
  while (echo_heard_ < echo_sent_) {
    if (Clock::now() >= until || stopping() || !wait(until)) return false;
    read_notifications();
  }
  std::set<std::string> present;
  std::string list = answer.size() > 1 ? answer[1] : "";
  while (!list.empty()) {
    const auto comma = list.find(',');
    present.insert(list.substr(0, comma));
    list = comma == std::string::npos ? "" : list.substr(comma + 1);
  }
  see(std::move(present));
  return true;
}

// Somebody who is gone may have committed something without coming to say so.
void Channel::see(std::set<std::string> present) {
  bool missing = false;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& node : present_) missing |= !present.contains(node);
    present_ = std::move(present);
  }
  if (missing) {
    log_info("postgres.node_gone");
    hear_(everything(now_()));
  }
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
  Wakeup wakeup;
  while (!what.empty()) {
    const char kind = what.front();
    what.remove_prefix(1);
    if (kind == 'e') return;
    if (kind == 'h') {
      const std::lock_guard lock(mutex_);
      present_.insert(from.substr(1));
    }
    wakeup.messages |= kind == 'm';
    wakeup.runs |= kind == 'r';
    wakeup.outbox |= kind == 'o';
    wakeup.definitions |= kind == 'f';
    if (kind == 'd') {
      std::int64_t ms = 0;
      const auto end = std::from_chars(what.data(), what.data() + what.size(), ms).ptr;
      what.remove_prefix(static_cast<std::size_t>(end - what.data()));
      wakeup.due = Timestamp::of_unix_ms(ms);
      const std::lock_guard lock(mutex_);
      if (!told_due_ || *wakeup.due < *told_due_) told_due_ = wakeup.due;
    }
    if (kind == 'x') {  // the rest: instances that ended
      while (!what.empty()) {
        const auto comma = what.find(',');
        wakeup.ended.push_back({std::string(what.substr(0, comma))});
        what.remove_prefix(comma == std::string_view::npos ? what.size() : comma + 1);
      }
    }
  }
  // A program that speaks SQL does not say when its lease ends or its run is due: look.
  if (from == "sql") wakeup.due = now_();
  hear_(wakeup);
}

bool Channel::say_pending() {
  Wakeup told;
  {
    const std::lock_guard lock(mutex_);
    if (!has_pending_ || Clock::now() < last_said_ + quiet) return true;
    told = std::move(pending_);
    pending_ = {};
    has_pending_ = false;
  }
  last_said_ = Clock::now();
  std::string head = node_ + "|";
  if (told.messages) head += 'm';
  if (told.runs) head += 'r';
  if (told.outbox) head += 'o';
  if (told.definitions) head += 'f';
  if (told.due) head += "d" + std::to_string(told.due->unix_ms());
  std::size_t next = 0;
  do {
    std::string payload = std::exchange(head, node_ + "|");
    if (next < told.ended.size()) payload += 'x';
    for (bool first = true; next < told.ended.size(); first = false, ++next) {
      const std::string& id = told.ended[next].value;
      if (payload.size() + id.size() > payload_bytes_max) break;
      payload += (first ? "" : ",") + id;
    }
    std::vector<std::string> answer;
    if (!ask("SELECT pg_notify($1, $2)", {name_, payload}, answer)) return false;
  } while (next < told.ended.size());
  return true;
}

}  // namespace cairn::postgres
