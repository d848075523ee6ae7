// Where the answer of one request arrives, from whatever thread, even when the connection is gone. One that fits is
// sent to the client from there: waking the connection's thread for it would cost more than sending it does.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "http/server.h"

namespace cairn::server {

class ResponseSlot {
 public:
  // Whom to wake: the connection, which closes the answer before it ends.
  class Bell {
   public:
    virtual void ring() = 0;  // from any thread

   protected:
    ~Bell() = default;
  };
  struct Terms {
    int socket = -1;  // to send to; -1: only the connection itself can send
    unsigned version = 11;
    bool keep_alive = true;
    bool head = false;                           // the request's method is HEAD
    const std::atomic<bool>* leaving = nullptr;  // then no connection is kept
  };
  ResponseSlot(const Terms& terms, Bell& bell) : terms_(terms), bell_(&bell) {}

  enum class Progress { waiting, given, sent };
  void give(Response response);
  Progress progress() const;
  // From now on it rings when an answer comes that the connection has to send. Until then nobody needs to be rung for.
  Progress await();
  // And also when it was sent: the next request is there already.
  Progress await_sent();
  // When it was sent, if it was.
  std::optional<std::chrono::steady_clock::time_point> sent_at() const;

  // What the connection has to send, once it is given.
  struct Outgoing {
    Response stream;   // with a stream: its head, and no text
    std::string text;  // as it goes over the wire
    std::size_t sent = 0;
    bool keep_alive = false;
    std::shared_ptr<ResponseReceipt> receipt;
    std::shared_ptr<void> held = nullptr;  // of the response
  };
  Outgoing take();
  // Later answers are dropped. Says how far it had come: whoever finds it waiting may send an answer of its own.
  Progress close();

  std::atomic<bool> gone{false};  // nobody can be answered any more

 private:
  const Terms terms_;
  mutable std::mutex mutex_;
  Bell* bell_;  // null: closed
  bool awaited_ = false;
  bool sent_awaited_ = false;
  Progress progress_ = Progress::waiting;
  std::chrono::steady_clock::time_point sent_at_;
  Outgoing outgoing_;
};

// An answer as it goes over the wire.
std::string wire_text(const Response& response, unsigned version, bool keep_alive, bool head);

// Ends a ResponseSlot or a stream's Line also when the server is torn down around the coroutine.
template <class Shared>
struct ClosedAtTheEnd {
  explicit ClosedAtTheEnd(std::shared_ptr<Shared> given) : shared(std::move(given)) {}
  ClosedAtTheEnd(const ClosedAtTheEnd&) = delete;
  ClosedAtTheEnd& operator=(const ClosedAtTheEnd&) = delete;
  ~ClosedAtTheEnd() { shared->close(); }
  std::shared_ptr<Shared> shared;
};

}  // namespace cairn::server
