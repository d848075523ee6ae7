#include "store/postgres/wire/pool.h"

#include <libpq-fe.h>
#include <sys/socket.h>

#include <algorithm>
#include <random>

#include "store/store_calls.h"

namespace cairn::postgres {

namespace {

// When the node has no patience left, a connection that takes this long to open is not retried.
constexpr std::chrono::seconds slow_open{1};

// libpq takes the last of two equal parameters. Two seconds is its shortest timeout.
Target hurried(Target target) {
  target.conninfo += "&connect_timeout=2";
  return target;
}

void cut(Connection& connection) {
  // Only the socket: the thread that waits on it owns the rest.
  ::shutdown(PQsocket(connection.handle()), SHUT_RDWR);
}

std::chrono::milliseconds jittered(std::chrono::milliseconds most) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(most.count() / 4, most.count())(random));
}

}  // namespace

// Nodes start at different places, so that the first writers of two nodes do not share one.
Pool::Pool(Target target)
    : target_(std::move(target)), hurried_(hurried(target_)), first_place_(std::random_device{}() % 1024) {}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  closed_.notify_all();
}

// The caller holds the lock.
void Pool::take_place(Session& session) {
  if (session.use != Use::write) return;
  session.place = 0;
  while (places_.contains(session.place)) ++session.place;
  places_.insert(session.place);
  session.connection->set_place(first_place_ + session.place);
}

// The caller holds the lock.
bool Pool::has_room(Use use) const {
  if (use == Use::read && reading_ + target_.writers >= target_.connections) return false;
  return !idle_.empty() || open_ < target_.connections;
}

// The caller holds the lock.
void Pool::wake_next() { waiting_to_write_ > 0 ? free_to_write_.notify_one() : free_to_read_.notify_one(); }

Result<Pool::Lease> Pool::take(Use use, std::chrono::milliseconds patience) {
  check_store_call();  // every store function takes one
  const auto until = std::chrono::steady_clock::now() + patience;
  std::size_t generation = 0;
  {
    std::unique_lock lock(mutex_);
    if (use == Use::write) {
      ++waiting_to_write_;
      free_to_write_.wait(lock, [this] { return given_up_ || has_room(Use::write); });
      --waiting_to_write_;
    } else {
      free_to_read_.wait(lock, [this] { return given_up_ || has_room(Use::read); });
    }
    if (given_up_) return no_answer();
    if (use == Use::read) ++reading_;
    if (!idle_.empty()) {
      Session session = std::move(idle_.back());
      idle_.pop_back();
      session.use = use;
      note_use(*session.connection);
      take_place(session);
      // Two places may have become free before the first waiter woke up.
      if (!idle_.empty()) wake_next();
      return Lease(*this, std::move(session));
    }
    ++open_;
    generation = generation_;
  }
  std::chrono::milliseconds pause{20};
  for (;;) {
    auto opened = open();
    if (opened) {
      Session session{std::move(*opened), "", 0, generation, use};
      {
        const std::lock_guard lock(mutex_);
        note_use(*session.connection);
        take_place(session);
      }
      // The connection is registered by now. If the server stops answering here, `distrust` disconnects this one too.
      if (opened_) opened_(*session.connection);
      return Lease(*this, std::move(session));
    }
    std::unique_lock lock(mutex_);
    pause = std::min(pause * 2, std::chrono::milliseconds(500));
    const auto wake = std::chrono::steady_clock::now() + jittered(pause);
    const bool over = out_of_patience() || wake > until || opened.error().code != ErrorCode::unavailable;
    if (over || stopped_.wait_until(lock, wake, [this] { return out_of_patience(); })) {
      --open_;
      if (use == Use::read) --reading_;
      wake_next();
      return opened.error();
    }
  }
}

Result<std::unique_ptr<Connection>> Pool::open() {
  bool hurries = false;
  {
    const std::lock_guard lock(mutex_);
    if (given_up_) return no_answer();
    hurries = out_of_patience();
  }
  const auto tried_at = std::chrono::steady_clock::now();
  auto opened = Connection::open(hurries ? hurried_ : target_);
  const std::lock_guard lock(mutex_);
  if (!opened && out_of_patience() && std::chrono::steady_clock::now() - tried_at >= slow_open) give_up();
  return opened;
}

void Pool::open_ahead(std::size_t count, std::function<void(Connection&)> rehearse) {
  ahead_ = std::jthread([this, count, rehearse = std::move(rehearse)] {
    std::vector<Lease> held;  // all at once: otherwise the first one would be taken again
    for (std::size_t i = 0; i < count; ++i) {
      auto lease = take(Use::read);
      if (!lease) return;
      rehearse(**lease);
      held.push_back(std::move(*lease));
    }
  });
}

void Pool::give_back(Session session) {
  if (!session.connection) return;
  const bool failed = session.connection->error().has_value();
  session.connection->restore();
  const bool usable = session.connection->usable();
  Session dropped;
  std::vector<Session> distrusted;
  const std::lock_guard lock(mutex_);
  in_use_.erase(session.connection.get());
  if (session.use == Use::read) {
    --reading_;
  } else {
    places_.erase(session.place);
  }
  if (usable && session.generation == generation_) {
    idle_.push_back(std::move(session));
    return wake_next();
  }
  --open_;
  // The server went away or restarted, so the idle connections are dead too.
  if (!usable && failed && session.generation == generation_) {
    ++generation_;
    open_ -= idle_.size();
    distrusted.swap(idle_);
  }
  dropped = std::move(session);
  free_to_write_.notify_all();
  free_to_read_.notify_all();
}

void Pool::distrust() {
  std::vector<Session> distrusted;
  {
    const std::lock_guard lock(mutex_);
    ++generation_;
    open_ -= idle_.size();
    distrusted.swap(idle_);
    for (const auto& [connection, since] : in_use_) cut(*connection);
    free_to_write_.notify_all();
    free_to_read_.notify_all();
  }
}

bool Pool::pause_before_trying(std::chrono::milliseconds length) {
  std::unique_lock lock(mutex_);
  return !stopped_.wait_for(lock, length, [this] { return out_of_patience(); });
}

void Pool::stop(std::chrono::milliseconds patience) {
  // A server that answers gets time to take the last writes, even if the drain time is zero.
  constexpr std::chrono::milliseconds patience_min{1000};
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(stopping_, true)) {
      stopped_at_ = std::chrono::steady_clock::now();
      watcher_ = std::jthread([this] { close_unanswered(); });
    }
    patience_ = std::min(patience_, std::max(patience, patience_min));
  }
  stopped_.notify_all();
  closed_.notify_all();
}

// The caller holds the lock.
void Pool::note_use(Connection& connection) {
  in_use_.emplace(&connection, std::chrono::steady_clock::now());
  if (given_up_) cut(connection);
}

// The caller holds the lock.
bool Pool::out_of_patience() const { return stopping_ && std::chrono::steady_clock::now() >= stopped_at_ + patience_; }

// The caller holds the lock.
void Pool::give_up() {
  given_up_ = true;
  for (const auto& [connection, since] : in_use_) cut(*connection);
  free_to_write_.notify_all();
  free_to_read_.notify_all();
}

bool Pool::given_up() {
  const std::lock_guard lock(mutex_);
  return given_up_;
}

Error Pool::no_answer() const {
  return {ErrorCode::unavailable, target_.shown + ": the server does not answer, and this node stops"};
}

void Pool::close_unanswered() {
  std::unique_lock lock(mutex_);
  while (!closing_ && !given_up_) {
    const auto now = std::chrono::steady_clock::now();
    auto next = now + patience_;
    for (const auto& [connection, since] : in_use_) {
      const auto until = std::max(since, stopped_at_) + patience_;
      if (until <= now) {
        cut(*connection);
      } else {
        next = std::min(next, until);
      }
    }
    // A stop with less patience ends the wait early.
    closed_.wait_until(lock, next);
  }
}

Pool::Watched::Watched(Pool& pool, Connection& connection) : pool_(pool), connection_(connection) {
  const std::lock_guard lock(pool.mutex_);
  pool.note_use(connection);
}

Pool::Watched::~Watched() {
  const std::lock_guard lock(pool_.mutex_);
  pool_.in_use_.erase(&connection_);
}

}  // namespace cairn::postgres
