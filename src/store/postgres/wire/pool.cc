#include "store/postgres/wire/pool.h"

#include <libpq-fe.h>
#include <sys/socket.h>

#include <algorithm>
#include <random>

#include "store/store_calls.h"

namespace cairn::postgres {

namespace {

std::chrono::milliseconds jittered(std::chrono::milliseconds most) {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(most.count() / 4, most.count())(random));
}

}  // namespace

// Nodes start at different places, so that the first writers of two nodes do not share one.
Pool::Pool(Target target) : target_(std::move(target)), first_place_(std::random_device{}() % 1024) {}

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
      free_to_write_.wait(lock, [this] { return has_room(Use::write); });
      --waiting_to_write_;
    } else {
      free_to_read_.wait(lock, [this] { return has_room(Use::read); });
      ++reading_;
    }
    if (!idle_.empty()) {
      Session session = std::move(idle_.back());
      idle_.pop_back();
      session.use = use;
      in_use_.insert(session.connection.get());
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
    auto opened = Connection::open(target_);
    if (opened) {
      Session session{std::move(*opened), "", 0, generation, use};
      {
        const std::lock_guard lock(mutex_);
        in_use_.insert(session.connection.get());
        take_place(session);
      }
      // The connection is registered by now. If the server stops answering here, `distrust` disconnects this one too.
      if (opened_) opened_(*session.connection);
      return Lease(*this, std::move(session));
    }
    std::unique_lock lock(mutex_);
    pause = std::min(pause * 2, std::chrono::milliseconds(500));
    const auto wake = std::chrono::steady_clock::now() + jittered(pause);
    const bool over = stopping_ || wake > until || opened.error().code != ErrorCode::unavailable;
    if (over || stopped_.wait_until(lock, wake, [this] { return stopping_; })) {
      --open_;
      if (use == Use::read) --reading_;
      wake_next();
      return opened.error();
    }
  }
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
    // Only the sockets: the threads that wait on them own the rest.
    for (Connection* connection : in_use_) ::shutdown(PQsocket(connection->handle()), SHUT_RDWR);
    free_to_write_.notify_all();
    free_to_read_.notify_all();
  }
}

bool Pool::pause_before_trying(std::chrono::milliseconds length) {
  std::unique_lock lock(mutex_);
  return !stopped_.wait_for(lock, length, [this] { return stopping_; });
}

void Pool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
}

}  // namespace cairn::postgres
