// The connection pool of one store. `take` waits while all connections are in use, which is the back-pressure for
// everything above. It reopens lost connections, with jitter, until the timeout. As many connections as the store has
// writers are reserved for writers, so commits never queue behind readers. Safe from several threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "store/postgres/wire/connection.h"

namespace cairn::postgres {

enum class Use { write, read };

// A connection with its row in wf_writers, which identifies its commits.
struct Session {
  std::unique_ptr<Connection> connection;
  std::string writer;  // empty: it has not written yet
  std::int64_t number = 0;
  std::size_t generation = 0;
  Use use = Use::write;
  std::size_t place = 0;  // its number among the concurrent writers
};

class Pool {
 public:
  explicit Pool(Target target);
  ~Pool();

  // Returns the connection to the pool on destruction.
  class Lease {
   public:
    Lease(Pool& pool, Session session) : pool_(&pool), session_(std::move(session)) {}
    Lease(Lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), session_(std::move(other.session_)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (pool_) pool_->give_back(std::move(session_));
    }
    Connection& operator*() { return *session_.connection; }
    Connection* operator->() { return session_.connection.get(); }
    Session& session() { return session_; }

   private:
    Pool* pool_;
    Session session_;
  };

  // ErrorCode::unavailable if the server cannot be reached within `patience`.
  Result<Lease> take(Use use, std::chrono::milliseconds patience = std::chrono::seconds(3));
  // Opens this many connections ahead, in the background, and calls `rehearse` once for each. The first callers then do
  // not wait for the server to start a process and to plan. Call it once.
  void open_ahead(std::size_t count, std::function<void(Connection&)> rehearse);
  // Sets a function that is called with each new connection before its first use.
  void on_open(std::function<void(Connection&)> opened) { opened_ = std::move(opened); }
  // For a node that stops. After `patience` each connection is tried once and briefly, and one that has been in use for
  // so long is closed. If opening a connection takes long too, the pool gives up: every `take` and `open` fails at
  // once.
  void stop(std::chrono::milliseconds patience);
  // Opens a connection outside the pool.
  Result<std::unique_ptr<Connection>> open();
  bool given_up();
  // Closes a connection outside the pool too, if the server does not answer after `stop`.
  class Watched {
   public:
    Watched(Pool& pool, Connection& connection);
    ~Watched();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    Pool& pool_;
    Connection& connection_;
  };
  // Waits before the next attempt. False if no time is left for one.
  bool pause_before_trying(std::chrono::milliseconds length);
  // Called when the server answers a new connection but not an old one. It disconnects every thread that waits for an
  // answer, which then handles a lost connection. Idle connections are not used again.
  void distrust();
  const Target& target() const { return target_; }

 private:
  bool has_room(Use use) const;
  void take_place(Session& session);
  void wake_next();
  void give_back(Session session);
  void note_use(Connection& connection);
  bool out_of_patience() const;
  void give_up();
  void close_unanswered();
  Error no_answer() const;

  const Target target_;
  const Target hurried_;  // the same with a short timeout for connecting
  std::function<void(Connection&)> opened_;
  std::mutex mutex_;
  // One waiter is woken for each free place, writers first. A single condition would wake every waiter for each place.
  std::condition_variable free_to_write_, free_to_read_, stopped_, closed_;
  std::size_t waiting_to_write_ = 0;
  std::vector<Session> idle_;
  std::map<Connection*, std::chrono::steady_clock::time_point> in_use_;  // since when
  std::set<std::size_t> places_;                                         // of the writers
  const std::size_t first_place_;
  std::size_t open_ = 0;
  std::size_t reading_ = 0;
  std::size_t generation_ = 0;  // grows when a connection is lost; older connections are not trusted
  bool stopping_ = false;
  bool given_up_ = false;
  bool closing_ = false;
  std::chrono::steady_clock::time_point stopped_at_;
  std::chrono::milliseconds patience_ = std::chrono::milliseconds::max();
  std::jthread ahead_;
  std::jthread watcher_;  // after `stop`
};

}  // namespace cairn::postgres
