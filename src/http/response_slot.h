// Receives the answer of one request, from any thread, even after the connection is gone. If it can, it sends the
// answer from that thread: waking the connection's thread would cost more than the send.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "http/server.h"

namespace cairn::http {

class ResponseSlot {
 public:
  // Wakes the connection, which closes the slot before it ends.
  class Bell {
   public:
    virtual void ring() = 0;  // callable from any thread

   protected:
    ~Bell() = default;
  };
  struct Terms {
    int socket = -1;  // the socket to send to; -1: only the connection can send
    unsigned version = 11;
    bool keep_alive = true;
    bool head = false;                           // the request's method is HEAD
    const std::atomic<bool>* leaving = nullptr;  // if set, connections are not kept alive
  };
  ResponseSlot(const Terms& terms, Bell& bell) : terms_(terms), bell_(&bell) {}

  enum class Progress { waiting, given, sent };
  void give(Response response);
  Progress progress() const;
  // From now on the bell rings when the connection must send an answer.
  Progress await();
  // From now on the bell also rings when the answer was sent: the next request is waiting.
  Progress await_sent();
  // When the answer was sent; empty if it was not.
  std::optional<std::chrono::steady_clock::time_point> sent_at() const;

  // What the connection must send.
  struct Outgoing {
    Response stream;   // for a stream: its head, without text
    std::string text;  // as sent over the wire
    std::size_t sent = 0;
    bool keep_alive = false;
    std::shared_ptr<ResponseReceipt> receipt;
    std::shared_ptr<void> held = nullptr;  // of the response
  };
  Outgoing take();
  // Later answers are dropped. Returns the progress: if it is `waiting`, the caller may send its own answer.
  Progress close();

  std::atomic<bool> gone{false};  // the client can no longer be answered

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

// An answer as sent over the wire.
std::string wire_text(const Response& response, unsigned version, bool keep_alive, bool head);

// Closes a ResponseSlot or a stream's Line, even if the server is destroyed around the coroutine.
template <class Shared>
struct ClosedAtTheEnd {
  explicit ClosedAtTheEnd(std::shared_ptr<Shared> given) : shared(std::move(given)) {}
  ClosedAtTheEnd(const ClosedAtTheEnd&) = delete;
  ClosedAtTheEnd& operator=(const ClosedAtTheEnd&) = delete;
  ~ClosedAtTheEnd() { shared->close(); }
  std::shared_ptr<Shared> shared;
};

}  // namespace cairn::http
