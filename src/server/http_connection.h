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

#include "server/event_line.h"
#include "server/http_server.h"
#include "server/pending_answer.h"
#include "server/steps.h"

namespace cairn::server {

class Connection;

// What all connections of a server share.
struct Premises {
  Premises(const HttpSettings& given, Handler given_handler) : settings(given), handler(std::move(given_handler)) {}

  const HttpSettings settings;
  const Handler handler;
  std::atomic<bool> draining{false};
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

class Connection final : public PendingAnswer::Bell, public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Instant = std::chrono::steady_clock::time_point;

  // `premises` and `thread` outlive it. `certificate` when it speaks TLS.
  Connection(Premises& premises, IoThread& thread, Socket socket, const boost::asio::ip::tcp::endpoint& remote,
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
  // False when it is over for this connection.
  Steps<bool> answer(Request request);
  Steps<bool> send_given();
  Steps<> stream(Response response);
  Steps<> pump(EventStream::Line& line, bool chunked);
  // More of what the client sends, behind `input_`.
  Steps<bool> receive();
  Steps<bool> send(std::string_view text);
  Steps<> refuse(int status, std::string_view title);

  void resume(Waits what);
  // So that `turn` ends when the client sends something, or hangs up.
  void watch();
  // With something to be read: whether the client has hung up. Nothing was sent: it is watched for again.
  bool has_hung_up();
  void expect_until(std::chrono::milliseconds from_now) { deadline_ = std::chrono::steady_clock::now() + from_now; }
  auto tls_done();

  Premises& premises_;
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
  std::shared_ptr<PendingAnswer> pending_;

  Waits waits_ = Waits::nothing;
  std::coroutine_handle<> step_;
  Instant deadline_;
  bool timed_out_ = false;
  bool between_requests_ = false;
  bool watching_ = false;
  bool readable_ = false;
  bool rung_ = false;
  int unbroken_ = 0;  // requests since others of this thread had their turn
  boost::system::error_code tls_failed_;
  std::size_t tls_count_ = 0;
  Steps<> steps_;  // last: what it holds ends first
};

}  // namespace cairn::server
