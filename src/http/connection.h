// One client's connection: reads requests, hands them over one after the other, and sends what the one who answers
// could not send himself. Included only by the files that know Asio (http_server.cc, http_connection.cc): it costs 20 s
// to compile.
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
#include "http/server.h"
#include "http/response_slot.h"
#include "http/steps.h"

namespace cairn::server {

class Connection;

// How far reading a head has come.
enum class HeadEnd { open, whole, bad, too_large, over };

// What all connections of a server share.
struct ServerContext {
  ServerContext(const HttpSettings& given, Handler given_handler)
      : settings(given),
        handler(std::move(given_handler)),
        bodies(std::make_shared<BodyBudget>(given.bodies_bytes_max)) {}

  const HttpSettings settings;
  const Handler handler;
  const std::shared_ptr<BodyBudget> bodies;  // shared with requests, which can outlive the server
  std::atomic<bool> leaving{false};          // answers close their connections
  std::atomic<bool> draining{false};         // connections without a request end
  // While the server drains: for a client that has just connected to send its request, and for goodbyes.
  std::atomic<std::chrono::milliseconds> farewell{std::chrono::milliseconds(1'000)};
  std::function<void(const boost::asio::ip::tcp::endpoint& remote)> left;  // a connection has ended

  std::mutex mutex;
  std::set<std::shared_ptr<EventStream::Line>> streams;  // closed when draining
};

// One thread and its connections. A connection stays with one: its steps run one after the other without a lock.
class IoThread {
 public:
  explicit IoThread(const HttpSettings& settings);
  ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  boost::asio::io_context context{1};
  void begin();
  void end();  // from another thread; connections end where they are

  // On its own thread.
  void take(std::shared_ptr<Connection> connection);
  void drop(const std::shared_ptr<Connection>& connection);
  void drain();

  // From any thread. Those who come while the thread is busy cost one wake-up together.
  void wake(std::shared_ptr<Connection> connection);

  std::vector<char> bytes;  // what was received, until its connection has taken it

 private:
  void tick();

  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> running_;
  std::set<std::shared_ptr<Connection>> connections_;
  // Looks at everybody's time now and then: a timer for each wait of each request would cost more than the waits.
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

  // `context` and `thread` outlive it. `certificate` when it speaks TLS.
  Connection(ServerContext& context, IoThread& thread, Socket socket, const boost::asio::ip::tcp::endpoint& remote,
             std::shared_ptr<boost::asio::ssl::context> certificate);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void ring() override;

  // On its thread:
  void begin();
  void rung();
  void check(Instant now);  // whether its time is over
  void drain();             // ends when it is between requests
  // From another thread, when its own has ended: nothing that it waits for rings any more.
  void abandon();

 private:
  using Tls = boost::asio::ssl::stream<Socket&>;
  // What a step waits for; anything else that happens is seen when it looks.
  enum class Waits { nothing, turn, room, tls };

  struct Pause {  // until the connection resumes it
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
  // Nothing: it is over.
  Steps<std::optional<Request>> read_request();
  HeadEnd head_so_far() const;
  // Until the head is whole, or cannot be one.
  Steps<HeadEnd> read_head();
  struct Body;
  // The rest of the request behind its head, when it has not come with it. False: it is over.
  Steps<bool> read_body(Body& body);
  // Whether the caller may send the body. False: it is over.
  Steps<bool> ask_admission(Body& body);
  // False when it is over for this connection.
  Steps<bool> answer(Request request);
  Steps<bool> send_given();
  Steps<> stream(Response response);
  Steps<> pump(EventStream::Line& line, bool chunked);
  // More of what the client sends, behind `input_`. False: nothing more comes, or its time is over.
  Steps<bool> receive();
  Steps<bool> receive_tls();
  Steps<bool> send(std::string_view text);
  // Closes the connection afterwards; `discard`: how much of what the client still sends is read before that.
  Steps<> refuse(Response response, std::string_view reason, std::size_t discard);
  // Reads what the client still sends. A connection that is closed before the client has stopped sending is reset, and
  // the answer is lost with it.
  Steps<> discard(std::size_t bytes_max);

  void resume(Waits what);
  // So that `turn` ends when the client sends something, or hangs up.
  void watch();
  // With something to be read: whether the client has hung up, `also_behind_input` that is still to be read. Nothing
  // was sent: it is watched for again.
  bool has_hung_up(bool also_behind_input);
  void read_tls();
  // Whether it has had no request yet and may still send its first one, although the server drains.
  bool is_fresh() const;
  // From now on that time counts.
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

  std::string input_;  // received and not read yet
  unsigned version_ = 11;
  bool keep_alive_ = true;
  bool head_ = false;  // of the request that is answered
  std::shared_ptr<ResponseSlot> pending_;

  Waits waits_ = Waits::nothing;
  std::coroutine_handle<> step_;
  Instant deadline_;
  bool timed_out_ = false;
  const Instant began_at_ = std::chrono::steady_clock::now();
  bool between_requests_ = false;
  bool had_request_ = false;
  bool looks_again_ = false;  // at every tick: something was sent, so hanging up would not be seen
  std::size_t discard_max_ = 0;
  bool watching_ = false;
  bool readable_ = false;
  bool rung_ = false;
  int unbroken_ = 0;  // requests since others of this thread had their turn
  boost::system::error_code tls_failed_;
  bool tls_reading_ = false;
  bool tls_ended_ = false;  // the client sends nothing more
  Steps<> steps_;           // last: what it holds ends first
};

}  // namespace cairn::server
