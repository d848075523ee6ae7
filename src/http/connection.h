// The connection of one client. It reads requests, passes them on one at a time, and sends the parts of an answer that
// the answering thread could not send itself. Only the files that know Asio (server.cc, connection.cc) include this
// header: it takes 20 s to compile.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/event_line.h"
#include "http/response_slot.h"
#include "http/server.h"
#include "http/steps.h"

namespace cairn::http {

class Connection;

// The state of reading a request head.
enum class HeadEnd { open, whole, bad, too_large, over };

// Shared by all connections of a server.
struct ServerContext {
  ServerContext(const HttpSettings& given, Handler given_handler)
      : settings(given),
        handler(std::move(given_handler)),
        bodies(std::make_shared<BodyBudget>(given.bodies_bytes_max)) {}

  const HttpSettings settings;
  const Handler handler;
  const std::shared_ptr<BodyBudget> bodies;  // shared with requests, which can outlive the server
  std::atomic<bool> leaving{false};          // answers close their connections
  std::atomic<bool> draining{false};         // connections without a request close
  // During draining: the time that a new client gets to send its request, and that the final bytes may take.
  std::atomic<std::chrono::milliseconds> farewell{std::chrono::milliseconds(1'000)};
  std::function<void(const boost::asio::ip::tcp::endpoint& remote)> left;  // called when a connection has closed

  std::mutex mutex;
  std::set<std::shared_ptr<EventStream::Line>> streams;  // closed during draining
};

// One thread and its connections. A connection stays on one thread, so its steps need no lock.
class IoThread {
 public:
  explicit IoThread(const HttpSettings& settings);
  ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  boost::asio::io_context context{1};
  void begin();
  void end();  // called from another thread; closes the connections as they are

  // On its own thread.
  void take(std::shared_ptr<Connection> connection);
  void drop(const std::shared_ptr<Connection>& connection);
  void drain();

  // Callable from any thread. Calls that arrive while the thread is busy share one wake-up.
  void wake(std::shared_ptr<Connection> connection);

  std::vector<char> bytes;  // received bytes, until their connection takes them

 private:
  void tick();

  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> running_;
  std::set<std::shared_ptr<Connection>> connections_;
  // Checks all deadlines periodically: a timer for each wait of each request would cost more than the waits.
  boost::asio::steady_timer clock_;
  const std::chrono::milliseconds tick_;
  bool ticking_ = false;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Connection>> woken_;
  std::jthread thread_;
};

class Connection final : public ResponseSlot::Bell, public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Instant = std::chrono::steady_clock::time_point;

  // `context` and `thread` must outlive the connection. `certificate` is set for TLS.
  Connection(ServerContext& context, IoThread& thread, Socket socket, const boost::asio::ip::tcp::endpoint& remote,
             std::shared_ptr<boost::asio::ssl::context> certificate);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void ring() override;

  // On its thread:
  void begin();
  void rung();
  void check(Instant now);  // whether a deadline has passed
  void drain();             // closes the connection if it is between requests
  // Called from another thread after its own has ended: no pending operation will complete.
  void abandon();

 private:
  using Tls = boost::asio::ssl::stream<Socket&>;
  // What a step waits for. Other events are noticed when the step looks.
  enum class Waits { nothing, turn, room, tls };

  struct Pause {  // suspends until the connection resumes it
    Connection& connection;
    Waits what;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> step) const noexcept {
      connection.waits_ = what;
      connection.step_ = step;
      connection.unbroken_ = 0;
    }
    void await_resume() const noexcept {}
  };

  Steps<> serve();
  Steps<> converse();
  Steps<bool> shake_hands();
  Steps<> hang_up();
  // Empty if the connection is closed.
  Steps<std::optional<Request>> read_request();
  HeadEnd head_so_far() const;
  // Reads until the head is complete or invalid.
  Steps<HeadEnd> read_head();
  struct Body;
  // Reads the part of the body that did not arrive with the head. Returns false if the connection is closed.
  Steps<bool> read_body(Body& body);
  // Asks whether the caller may send the body. Returns false if the connection is closed.
  Steps<bool> ask_admission(Body& body);
  // Returns false if the connection must close.
  Steps<bool> answer(Request request);
  Steps<bool> send_given();
  Steps<> stream(Response response);
  Steps<> pump(EventStream::Line& line, bool chunked);
  // Appends received bytes to `input_`. Returns false if the client has closed its side or a deadline has passed.
  Steps<bool> receive();
  Steps<bool> receive_tls();
  Steps<bool> send(std::string_view text);
  // Sends the response and closes the connection. `discard` limits how much of the client's remaining data is read
  // before that.
  Steps<> refuse(Response response, std::string_view reason, std::size_t discard);
  // Reads and drops the client's remaining data. If the connection closes while the client still sends, the system
  // resets it and the client loses the answer.
  Steps<> discard(std::size_t bytes_max);

  void resume(Waits what);
  // Makes `turn` end when the client sends data or disconnects.
  void watch();
  // Call this when the socket is readable. Returns whether the client has disconnected; with `also_behind_input` even
  // if unread data precedes that. Starts watching again if no data arrived.
  bool has_hung_up(bool also_behind_input);
  void read_tls();
  // Whether this connection has had no request yet and may still send its first one during draining.
  bool is_fresh() const;
  // Sets the deadline.
  void expect_until(std::chrono::milliseconds from_now) {
    deadline_ = std::chrono::steady_clock::now() + from_now;
    timed_out_ = false;
  }
  void expect_at_most(std::chrono::milliseconds from_now) {
    deadline_ = std::min(deadline_, std::chrono::steady_clock::now() + from_now);
  }
  auto tls_done();

  ServerContext& context_;
  IoThread& thread_;
  Socket socket_;
  const boost::asio::ip::tcp::endpoint remote_;
  const std::string peer_;
  std::shared_ptr<boost::asio::ssl::context> certificate_;  // shared with the connections of the same certificate
  std::optional<Tls> tls_;
  std::string tls_piece_;

  std::string input_;  // received and not parsed yet
  unsigned version_ = 11;
  bool keep_alive_ = true;
  bool head_ = false;  // of the current request
  std::shared_ptr<ResponseSlot> pending_;

  Waits waits_ = Waits::nothing;
  std::coroutine_handle<> step_;
  Instant deadline_;
  bool timed_out_ = false;
  const Instant began_at_ = std::chrono::steady_clock::now();
  bool between_requests_ = false;
  bool had_request_ = false;
  bool looks_again_ = false;  // check at every tick: unread data hides a disconnect
  std::size_t discard_max_ = 0;
  bool watching_ = false;
  bool readable_ = false;
  bool rung_ = false;
  int unbroken_ = 0;  // requests since other connections of this thread had their turn
  boost::system::error_code tls_failed_;
  bool tls_reading_ = false;
  bool tls_ended_ = false;  // the client has closed its side
  Steps<> steps_;           // last member: its coroutine is destroyed first
};

}  // namespace cairn::http
