// The connections of one store. Waits when all are in use, which is the back-pressure of everything above;
// opens again what was lost, with jitter, for as long as its patience lasts. As many as the store has writers are kept
// from those who only read: however many of them there are, a commit does not queue behind them. Safe from several
// threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "store/postgres/wire/connection.h"

namespace cairn::postgres {

enum class Use { write, read };

// A connection with the row in wf_writers that its commits are known by.
struct Session {
  std::unique_ptr<Connection> connection;
  std::string writer;  // empty: it has not written yet
  std::int64_t number = 0;
  std::size_t generation = 0;
  Use use = Use::write;
  std::size_t place = 0;  // among those who write at the same time
};

class Pool {
 public:
  explicit Pool(Target target);

  // Given back when it goes out of scope.
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

  // ErrorCode::unavailable when the server cannot be reached for that long.
  Result<Lease> take(Use use, std::chrono::milliseconds patience = std::chrono::seconds(3));
  // Has so many connections open and lets `rehearse` have each once, beside whoever takes them: the first who need them
  // do not wait for the server to start a process and to plan. Not twice.
  void open_ahead(std::size_t count, std::function<void(Connection&)> rehearse);
  // Called with each new connection, before its first use.
  void on_open(std::function<void(Connection&)> opened) { opened_ = std::move(opened); }
  // No more waiting for a server that is away: it is tried once.
  void stop();
  // Passes the time before the next try. False: there is no time for one.
  bool pause_before_trying(std::chrono::milliseconds length);
  // The server was found to answer a new connection, but not an old one: whoever waits for an answer is cut off, and
  // takes it as any lost connection; what lies idle is not used again.
  void distrust();
  const Target& target() const { return target_; }

 private:
  bool has_room(Use use) const;
  void take_place(Session& session);
  void wake_next();
  void give_back(Session session);

  const Target target_;
  std::function<void(Connection&)> opened_;
  std::mutex mutex_;
  // One is woken for each place that is free, writers first: with one condition for all, each place would wake
  // everybody who waits.
  std::condition_variable free_to_write_, free_to_read_, stopped_;
  std::size_t waiting_to_write_ = 0;
  std::vector<Session> idle_;
  std::set<Connection*> in_use_;
  std::set<std::size_t> places_;  // of those who write
  const std::size_t first_place_;
  std::size_t open_ = 0;
  std::size_t reading_ = 0;
  std::size_t generation_ = 0;  // grows when a connection was lost: those before it are not trusted
  bool stopping_ = false;
  std::jthread ahead_;
};

}  // namespace cairn::postgres
