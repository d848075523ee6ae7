// g++ 12 frees temporary aggregates and capturing lambdas twice inside a co_await expression. Give them a name first.
#include "http/connection.h"

#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>

#include "base/ascii.h"
#include "base/limit_refusals.h"
#include "base/log.h"
#include "http/translation.h"

namespace cairn::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

constexpr std::size_t received_at_once = 64u << 10;
constexpr std::size_t tls_received_at_once = 4u << 10;
constexpr int unbroken_max = 16;
constexpr std::size_t kept_while_idle = 4u << 10;
constexpr std::size_t unread_max = 64u << 10;  // of a body: chunk lengths and chunk extensions
// How much of a refused body is read, in multiples of the limit. A client that exceeds the limit by less than this
// still receives the error.
constexpr std::size_t discarded_bodies = 4;
constexpr std::chrono::milliseconds tick_min{5};
constexpr std::chrono::milliseconds tick_max{500};

std::chrono::milliseconds tick_of(const HttpSettings& settings) {
  const auto shortest = std::min({settings.head_timeout, settings.body_timeout, settings.idle_timeout,
                                  settings.write_timeout, settings.answer_timeout, settings.stream_beat});
  return std::clamp(shortest / 4, tick_min, tick_max);
}

// The refusal of a request before it reaches a handler.
struct Refusal {
  int status = 400;
  const char* title = "The request is not valid HTTP";
  const char* reason = "malformed";
  PassedLimit passed = {};
};

Response answer_to(const Refusal& refusal) { return problem(refusal.status, refusal.title, refusal.passed); }

Refusal too_large(const HttpSettings& settings) {
  return {431, "The request head is larger than the limit", "head_bytes",
          PassedLimit{"http.head_bytes_max", settings.head_bytes_max}};
}

Refusal body_too_large(std::size_t bytes_max, bool known_caller) {
  return {413, "The body is larger than the limit", "body_bytes",
          PassedLimit{known_caller ? "http.body_bytes_max" : "http.unknown_body_bytes_max", bytes_max}};
}

Refusal no_memory(const HttpSettings& settings) {
  return {503, "The bodies of other requests use all memory for request bodies", "bodies_bytes",
          PassedLimit{"http.bodies_bytes_max", settings.bodies_bytes_max}};
}

// Refuses requests that two parsers could read differently.
std::optional<Refusal> refusal_of(const http::request<http::string_body>& message, const HttpSettings& settings) {
  std::size_t headers = 0;
  for (const auto& field : message) {
    if (++headers > settings.headers_max) {
      return Refusal{431, "The request has too many headers", "headers", PassedLimit{"headers", settings.headers_max}};
    }
    if (field.name_string().size() + field.value().size() > settings.header_bytes_max) {
      return Refusal{431, "A header is larger than the limit", "header_bytes",
                     PassedLimit{"header_bytes", settings.header_bytes_max}};
    }
  }
  if (ambiguous(message)) return Refusal{400, "The request is ambiguous"};
  return std::nullopt;
}

Refusal refusal_of(error_code why, const HttpSettings& settings) {
  if (why == http::error::body_limit) return body_too_large(settings.body_bytes_max, true);
  if (why == http::error::header_limit || why == http::error::buffer_overflow) return too_large(settings);
  return {};
}

// Receives the admission decision for a head, from any thread, even after the connection is gone.
class PendingAdmission {
 public:
  explicit PendingAdmission(ResponseSlot::Bell& bell) : bell_(&bell) {}

  void give(Admission admission) {
    const std::scoped_lock lock(mutex_);
    if (bell_ == nullptr || given_) return;
    given_ = std::move(admission);
    if (awaited_) bell_->ring();
  }
  // Empty if there is no decision yet; then the bell rings when it arrives.
  std::optional<Admission> take() {
    const std::scoped_lock lock(mutex_);
    awaited_ = true;
    return std::exchange(given_, std::nullopt);
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    bell_ = nullptr;
  }

 private:
  std::mutex mutex_;
  ResponseSlot::Bell* bell_;  // null: closed
  bool awaited_ = false;
  std::optional<Admission> given_;
};

}  // namespace

IoThread::IoThread(const HttpSettings& settings)
    : bytes(received_at_once), running_(context.get_executor()), clock_(context), tick_(tick_of(settings)) {}

IoThread::~IoThread() { end(); }

void IoThread::begin() {
  thread_ = std::jthread([this] { context.run(); });
}

void IoThread::end() {
  context.stop();
  if (thread_.joinable()) thread_.join();
  // Operations pending in the context keep connections alive until the context is destroyed, which is after everything
  // that `wake` needs.
  for (const auto& connection : connections_) connection->abandon();
  std::vector<std::shared_ptr<Connection>> woken;
  {
    const std::scoped_lock lock(mutex_);
    woken.swap(woken_);
  }
  // Before the context: they own its sockets.
  woken.clear();
  connections_.clear();
}

void IoThread::take(std::shared_ptr<Connection> connection) {
  connections_.insert(connection);
  if (!ticking_) tick();
  connection->begin();
}

void IoThread::drop(const std::shared_ptr<Connection>& connection) { connections_.erase(connection); }

// An idle server without connections sleeps.
void IoThread::tick() {
  ticking_ = !connections_.empty();
  if (!ticking_) return;
  clock_.expires_after(tick_);
  clock_.async_wait([this](error_code failed) {
    if (failed) return;
    const auto now = std::chrono::steady_clock::now();
    for (auto at = connections_.begin(); at != connections_.end();) {
      const std::shared_ptr<Connection> connection = *at++;  // it may leave the list
      connection->check(now);
    }
    tick();
  });
}

void IoThread::drain() {
  for (auto at = connections_.begin(); at != connections_.end();) {
    const std::shared_ptr<Connection> connection = *at++;
    connection->drain();
  }
}

void IoThread::wake(std::shared_ptr<Connection> connection) {
  {
    const std::scoped_lock lock(mutex_);
    woken_.push_back(std::move(connection));
    if (woken_.size() > 1) return;
  }
  asio::post(context, [this] {
    std::vector<std::shared_ptr<Connection>> woken;
    {
      const std::scoped_lock lock(mutex_);
      woken.swap(woken_);
    }
    for (const auto& one : woken) one->rung();
  });
}

Connection::Connection(ServerContext& context, IoThread& thread, Socket socket,
                       const boost::asio::ip::tcp::endpoint& remote,
                       std::shared_ptr<boost::asio::ssl::context> certificate)
    : context_(context),
      thread_(thread),
      socket_(std::move(socket)),
      remote_(remote),
      peer_(remote.address().to_string()),
      certificate_(std::move(certificate)),
      steps_(serve()) {
  if (certificate_) {
    tls_.emplace(socket_, *certificate_);
    tls_piece_.resize(tls_received_at_once);
  }
}

Connection::~Connection() {
  if (pending_) pending_->close();
}

void Connection::abandon() {
  waits_ = Waits::nothing;
  { const Steps<> ended = std::move(steps_); }  // closes its answer, its stream or its admission
  if (pending_) pending_->close();
}

void Connection::begin() {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  socket_.native_non_blocking(true, ignored);
  step_ = steps_.handle();
  waits_ = Waits::turn;
  resume(Waits::turn);
}

void Connection::ring() {
  // Without an owner the connection is being destroyed.
  if (auto self = weak_from_this().lock()) thread_.wake(std::move(self));
}

void Connection::rung() {
  rung_ = true;
  resume(Waits::turn);
}

void Connection::resume(Waits what) {
  if (waits_ != what) return;
  const auto self = shared_from_this();  // it may leave its thread
  waits_ = Waits::nothing;
  step_.resume();
  if (!steps_.done()) return;
  waits_ = Waits::nothing;
  error_code ignored;
  if (pending_) pending_->close();
  socket_.close(ignored);
  thread_.drop(self);
  context_.left(remote_);
}

void Connection::check(Instant now) {
  if (pending_) {
    // The answering thread did not wake this one: the connection has been between requests since then.
    if (const auto sent = pending_->sent_at()) deadline_ = *sent + context_.settings.idle_timeout;
  }
  if (looks_again_) resume(Waits::turn);
  if (now < deadline_ || timed_out_) return;
  timed_out_ = true;
  if (waits_ == Waits::nothing) return;
  if (waits_ == Waits::tls) {
    error_code ignored;
    socket_.cancel(ignored);
    return;
  }
  resume(waits_);
}

bool Connection::is_fresh() const {
  return !had_request_ && std::chrono::steady_clock::now() < began_at_ + context_.farewell.load();
}

void Connection::drain() {
  const bool answered = pending_ && pending_->progress() == ResponseSlot::Progress::sent;
  if (answered || (between_requests_ && !is_fresh())) return resume(Waits::turn);
  const bool shakes_hands = waits_ == Waits::tls && !had_request_;
  if (between_requests_ || shakes_hands || discard_max_ > 0) expect_at_most(context_.farewell);
}

void Connection::watch() {
  if (watching_ || readable_) return;
  watching_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](error_code failed) {
    self->watching_ = false;
    if (failed == asio::error::operation_aborted) return;
    self->readable_ = true;
    self->resume(Waits::turn);
  });
}

bool Connection::has_hung_up(bool also_behind_input) {
  char byte = 0;
  const auto count = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
    readable_ = false;
    return false;
  }
  if (count <= 0) return true;
  if (!also_behind_input) return false;
  pollfd end{socket_.native_handle(), POLLRDHUP, 0};
  return ::poll(&end, 1, 0) > 0;
}

// The completion handler of TLS operations.
auto Connection::tls_done() {
  return [self = shared_from_this()](error_code failed, std::size_t = 0) {
    self->tls_failed_ = failed;
    self->resume(Waits::tls);
  };
}

// Ends a `turn` when data arrived or the client closed its side, which TLS reports with a message.
void Connection::read_tls() {
  if (tls_reading_ || tls_ended_) return;
  tls_reading_ = true;
  tls_->async_read_some(asio::buffer(tls_piece_), [self = shared_from_this()](error_code failed, std::size_t count) {
    self->tls_reading_ = false;
    self->input_.append(self->tls_piece_, 0, count);
    if (failed || count == 0) self->tls_ended_ = true;
    self->resume(Waits::turn);
  });
}

Steps<> Connection::serve() {
  try {
    if (co_await shake_hands()) co_await converse();
    co_await hang_up();
  } catch (const std::exception& failure) {
    log_error("http.connection_failed", {{"message", failure.what()}});
  }
}

Steps<bool> Connection::shake_hands() {
  if (!tls_) co_return true;
  expect_until(context_.settings.head_timeout);
  tls_->async_handshake(asio::ssl::stream_base::server, tls_done());
  co_await Pause{*this, Waits::tls};
  co_return !tls_failed_;
}

Steps<> Connection::hang_up() {
  if (tls_ && SSL_is_init_finished(tls_->native_handle()) == 1 && !timed_out_ && !tls_reading_) {
    expect_until(std::chrono::seconds(2));
    tls_->async_shutdown(tls_done());
    co_await Pause{*this, Waits::tls};
  }
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  if (discard_max_ > 0) co_await discard(discard_max_);
  socket_.shutdown(Socket::shutdown_both, ignored);
}

// Reads below TLS as well: the content no longer matters.
Steps<> Connection::discard(std::size_t bytes_max) {
  expect_until(context_.draining ? context_.farewell.load() : context_.settings.discard_timeout);
  readable_ = true;
  for (std::size_t discarded = 0; discarded < bytes_max && !timed_out_;) {
    const auto count = ::recv(socket_.native_handle(), thread_.bytes.data(), thread_.bytes.size(), MSG_DONTWAIT);
    if (count == 0) co_return;
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) co_return;
    if (count > 0) discarded += static_cast<std::size_t>(count);
    readable_ = false;
    watch();
    co_await Pause{*this, Waits::turn};
  }
  // Reading stops here. The socket buffers of both systems still take data, so many clients finish sending and read the
  // answer.
  expect_at_most(context_.farewell);
  looks_again_ = true;
  while (!timed_out_ && !has_hung_up(true)) co_await Pause{*this, Waits::turn};
}

Steps<> Connection::converse() {
  for (;;) {
    std::optional<Request> request = co_await read_request();
    if (!request) co_return;
    if (!co_await answer(std::move(*request))) co_return;
    // A client that pipelines requests must not starve the other connections of this thread.
    if (++unbroken_ < unbroken_max) continue;
    ring();
    co_await Pause{*this, Waits::turn};
  }
}

// Beast accepts folded header lines, which other parsers read differently.
HeadEnd Connection::head_so_far() const {
  const Head head = look_at_head(input_);
  if (head.bad) return HeadEnd::bad;
  if (head.whole) return HeadEnd::whole;
  return input_.size() > context_.settings.head_bytes_max ? HeadEnd::too_large : HeadEnd::open;
}

Steps<HeadEnd> Connection::read_head() {
  for (;;) {
    if (!co_await receive()) co_return HeadEnd::over;
    if (const HeadEnd end = head_so_far(); end != HeadEnd::open) co_return end;
  }
}

// A body in progress.
struct Connection::Body {
  http::request_parser<http::string_body>& parser;
  Request& request;
  std::size_t bytes_max = 0;
  bool known_caller = false;
};

Steps<std::optional<Request>> Connection::read_request() {
  const HttpSettings& settings = context_.settings;
  version_ = 11;
  head_ = false;
  if (input_.empty()) {
    if (input_.capacity() > kept_while_idle) std::string().swap(input_);
    expect_until(settings.idle_timeout);
    if (context_.draining) expect_at_most(context_.farewell);
    between_requests_ = true;
    const bool received = co_await receive();
    between_requests_ = false;
    if (!received) co_return std::nullopt;
  }
  had_request_ = true;
  expect_until(settings.head_timeout);
  HeadEnd end = head_so_far();
  if (end == HeadEnd::open) end = co_await read_head();
  if (end == HeadEnd::over) co_return std::nullopt;
  http::request_parser<http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(settings.head_bytes_max));
  parser.body_limit(boost::none);
  error_code failed;
  if (end == HeadEnd::bad) failed = http::make_error_code(http::error::bad_field);
  if (end == HeadEnd::too_large) failed = http::make_error_code(http::error::header_limit);
  if (!failed) input_.erase(0, parser.put(asio::buffer(input_), failed));
  if (!failed && !parser.is_header_done()) failed = http::make_error_code(http::error::bad_field);
  std::optional<Refusal> refusal;
  std::optional<Request> request;
  if (failed) {
    refusal = refusal_of(failed, settings);
  } else {
    refusal = refusal_of(parser.get(), settings);
  }
  if (!refusal) {
    request = head_of(parser.get());
    if (!request) refusal = Refusal{400, "The target is malformed"};
  }
  if (refusal) {
    Response response = answer_to(*refusal);
    co_await refuse(std::move(response), refusal->reason, settings.unknown_body_bytes_max);
    co_return std::nullopt;
  }
  head_ = parser.get().method() == http::verb::head;
  version_ = parser.get().version();
  keep_alive_ = parser.get().keep_alive();
  request->peer = peer_;
  request->secure = tls_.has_value();
  if (!parser.is_done()) {
    Body body{parser, *request, settings.body_bytes_max, true};
    if (!co_await read_body(body)) co_return std::nullopt;
    request->body = std::move(parser.get().body());
  }
  co_return request;
}

Steps<bool> Connection::read_body(Body& body) {
  const HttpSettings& settings = context_.settings;
  http::request_parser<http::string_body>& parser = body.parser;
  BodyShare& share = body.request.body_share;
  share = BodyShare(context_.bodies);
  const auto length = parser.content_length();
  expect_until(settings.body_timeout);
  bool asked = length && *length > settings.unknown_body_bytes_max;
  if (asked && !co_await ask_admission(body)) co_return false;
  parser.eager(true);
  parser.body_limit(settings.body_bytes_max);
  for (bool ended = false;;) {
    error_code failed;
    if (!input_.empty()) input_.erase(0, parser.put(asio::buffer(input_), failed));
    if (failed == http::error::need_more) failed = {};
    if (!failed && !parser.is_done() && input_.size() > unread_max) {
      failed = http::make_error_code(http::error::buffer_overflow);
    }
    if (!failed && !parser.is_done() && ended) failed = http::make_error_code(http::error::partial_message);
    const std::size_t size = parser.get().body().size();
    std::optional<Refusal> refusal;
    if (failed) {
      refusal = refusal_of(failed, settings);
    } else if (size > body.bytes_max) {
      refusal = body_too_large(body.bytes_max, body.known_caller);
    } else if (!share.grow_to(parser.is_done() ? size : size + input_.size(), body.known_caller)) {
      refusal = no_memory(settings);
    }
    if (refusal) {
      Response response = answer_to(*refusal);
      const std::size_t bytes_max =
          asked && body.known_caller ? discarded_bodies * settings.body_bytes_max : settings.unknown_body_bytes_max;
      co_await refuse(std::move(response), refusal->reason, ended ? 0 : bytes_max);
      co_return false;
    }
    if (parser.is_done()) co_return true;
    if (!asked) {
      asked = true;
      if (!co_await ask_admission(body)) co_return false;
    }
    if (!co_await receive()) {
      if (timed_out_) co_return false;
      ended = true;  // a client that has only closed its own side still receives the error
    }
  }
}

Steps<bool> Connection::ask_admission(Body& body) {
  const HttpSettings& settings = context_.settings;
  if (settings.admit) {
    const ClosedAtTheEnd<PendingAdmission> pending(std::make_shared<PendingAdmission>(*this));
    std::function<void(Admission)> decide = [decision = pending.shared](Admission admission) {
      decision->give(std::move(admission));
    };
    settings.admit(body.request, std::move(decide));
    std::optional<Admission> admission = pending.shared->take();
    while (!admission) {
      co_await Pause{*this, Waits::turn};
      admission = pending.shared->take();
      if (!admission && timed_out_) co_return false;
    }
    if (admission->refusal) {
      co_await refuse(std::move(*admission->refusal), {}, settings.unknown_body_bytes_max);
      co_return false;
    }
    body.request.caller = std::move(admission->caller);
    body.known_caller = body.request.caller != nullptr;
    if (!body.known_caller) body.bytes_max = std::min(body.bytes_max, settings.unknown_body_bytes_max);
  }
  std::optional<Refusal> refusal;
  const auto length = body.parser.content_length();
  if (length && *length > body.bytes_max) {
    refusal = body_too_large(body.bytes_max, body.known_caller);
  } else if (length && !body.request.body_share.grow_to(*length, body.known_caller)) {
    refusal = no_memory(settings);
  }
  if (refusal) {
    Response response = answer_to(*refusal);
    co_await refuse(std::move(response), refusal->reason,
                    body.known_caller ? discarded_bodies * settings.body_bytes_max : settings.unknown_body_bytes_max);
    co_return false;
  }
  const auto expected = body.parser.get()[http::field::expect];
  if (!expected.empty() && ascii_lower(std::string_view(expected.data(), expected.size())) == "100-continue") {
    if (!co_await send("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
  }
  expect_until(settings.body_timeout);
  co_return true;
}

Steps<bool> Connection::receive() {
  if (tls_) co_return co_await receive_tls();
  for (;;) {
    const bool leaves = between_requests_ && context_.draining;
    if (readable_ || leaves) {
      const auto count = ::recv(socket_.native_handle(), thread_.bytes.data(), thread_.bytes.size(), MSG_DONTWAIT);
      if (count > 0) {
        input_.append(thread_.bytes.data(), static_cast<std::size_t>(count));
        readable_ = static_cast<std::size_t>(count) == thread_.bytes.size();
        co_return true;
      }
      if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) co_return false;
      readable_ = errno == EINTR;
      if (readable_) continue;
    }
    if (leaves && !is_fresh()) co_return false;
    watch();
    co_await Pause{*this, Waits::turn};
    if (timed_out_) co_return false;
  }
}

Steps<bool> Connection::receive_tls() {
  const std::size_t had = input_.size();
  for (;;) {
    if (input_.size() > had) co_return true;
    if (tls_ended_ || (between_requests_ && context_.draining && !is_fresh())) co_return false;
    read_tls();
    co_await Pause{*this, Waits::turn};
    if (timed_out_ && input_.size() == had) co_return false;
  }
}

Steps<bool> Connection::send(std::string_view text) {
  expect_until(context_.settings.write_timeout);
  if (tls_) {
    asio::async_write(*tls_, asio::buffer(text.data(), text.size()), tls_done());
    co_await Pause{*this, Waits::tls};
    co_return !tls_failed_;
  }
  while (!text.empty()) {
    const auto count = ::send(socket_.native_handle(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      const auto room = [self = shared_from_this()](error_code failed) {
        if (failed != asio::error::operation_aborted) self->resume(Waits::room);
      };
      socket_.async_wait(Socket::wait_write, room);
      co_await Pause{*this, Waits::room};
      if (timed_out_) co_return false;
    } else if (errno != EINTR) {
      co_return false;
    }
  }
  co_return true;
}

Steps<> Connection::refuse(Response response, std::string_view reason, std::size_t discard) {
  if (context_.settings.refused && !reason.empty()) context_.settings.refused(reason);
  const std::string text = wire_text(response, version_, false, head_);
  if (co_await send(text)) discard_max_ = discard;
}

Steps<bool> Connection::answer(Request request) {
  using Progress = ResponseSlot::Progress;
  ResponseSlot::Terms terms;
  if (!tls_) terms.socket = socket_.native_handle();
  terms.version = version_;
  terms.keep_alive = keep_alive_;
  terms.head = head_;
  terms.leaving = &context_.leaving;
  pending_ = std::make_shared<ResponseSlot>(terms, *this);
  struct Ending {
    explicit Ending(Connection& of) : connection(of) {}
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    ~Ending() {
      connection.pending_->close();
      connection.pending_.reset();
      connection.looks_again_ = false;
    }
    Connection& connection;
  };
  const Ending ending(*this);
  expect_until(context_.settings.answer_timeout);
  if (tls_) readable_ = false;  // what TLS has read was not checked here
  const bool missed = context_.settings.watched && context_.settings.watched(request);
  const Instant patient_until =
      std::chrono::steady_clock::now() + (missed ? std::chrono::milliseconds(0) : context_.settings.unwatched);
  {
    Reply::Send give = [answer = pending_](Response response) { answer->give(std::move(response)); };
    Reply reply(std::move(give), {pending_, &pending_->gone});
    context_.handler(std::move(request), std::move(reply));
  }
  Progress progress = pending_->await();
  bool hung_up = false;
  while (progress == Progress::waiting) {
    if (tls_ && readable_ && input_.empty()) {
      readable_ = false;
      read_tls();
    }
    hung_up = hung_up || tls_ended_ || (readable_ && has_hung_up(missed));
    if (hung_up) deadline_ = std::min(deadline_, patient_until);
    if (timed_out_ || (hung_up && std::chrono::steady_clock::now() >= patient_until)) break;
    // More input is already waiting, so no later read event would tell that this answer was sent.
    if (readable_ || !input_.empty()) progress = pending_->await_sent();
    if (progress != Progress::waiting) break;
    looks_again_ = missed && readable_;
    if (!tls_reading_) watch();
    co_await Pause{*this, Waits::turn};
    progress = pending_->progress();
  }
  // Later answers are dropped; an answer given just before this wins.
  if (progress == Progress::waiting) progress = pending_->close();
  if (progress == Progress::waiting && hung_up) co_return false;
  if (progress == Progress::waiting) {
    const std::string text = wire_text(problem(503, "The server took too long"), version_, keep_alive_, head_);
    const bool sent = co_await send(text);
    co_return sent&& keep_alive_;
  }
  // The answer was sent, and then nothing arrived until the timeout.
  if (progress == Progress::sent) co_return !timed_out_;
  co_return co_await send_given();
}

Steps<bool> Connection::send_given() {
  ResponseSlot::Outgoing given = pending_->take();
  if (given.stream.stream) {
    co_await stream(std::move(given.stream));
    co_return false;
  }
  const bool sent = co_await send(std::string_view(given.text).substr(given.sent));
  if (sent && given.receipt) given.receipt->done();
  // If the client has sent more, closing at once would lose the answer.
  if (sent && !given.keep_alive && (readable_ || !input_.empty())) {
    discard_max_ = context_.settings.unknown_body_bytes_max;
  }
  co_return sent&& given.keep_alive;
}

Steps<> Connection::stream(Response response) {
  const std::function<void()> rope = [this] { ring(); };
  const ClosedAtTheEnd<EventStream::Line> ending(
      std::make_shared<EventStream::Line>(rope, context_.settings.stream_bytes_max));
  const std::shared_ptr<EventStream::Line>& line = ending.shared;
  {
    const std::scoped_lock lock(context_.mutex);
    if (!context_.draining) context_.streams.insert(line);
  }
  if (context_.draining) line->close();
  const bool chunked = version_ == 11;
  std::string head = "HTTP/1." + std::string(chunked ? "1" : "0") +
                     " 200 OK\r\ncontent-type: " + response.content_type +
                     "\r\ncache-control: no-store\r\nconnection: close\r\n";
  for (const auto& [name, value] : response.headers) head += name + ": " + value + "\r\n";
  head += response.standing_headers;
  head += chunked ? "transfer-encoding: chunked\r\n\r\n" : "\r\n";
  if (co_await send(head)) {
    const EventStream events(line);
    response.stream(events);
    response.stream = nullptr;
    co_await pump(*line, chunked);
  }
  const std::scoped_lock lock(context_.mutex);
  context_.streams.erase(line);
}

Steps<> Connection::pump(EventStream::Line& line, bool chunked) {
  for (;;) {
    expect_until(context_.settings.stream_beat);
    std::string text;
    bool closed = false;
    {
      const std::scoped_lock lock(line.mutex);
      text.swap(line.waiting);
      line.writing = text.size();
      closed = !line.ring;
      rung_ = false;
    }
    if (text.empty() && closed) break;
    if (text.empty()) {
      if (!tls_reading_) watch();
      co_await Pause{*this, Waits::turn};
      if (rung_) continue;  // data was sent, or the stream has ended
      if (tls_ && readable_ && input_.empty()) {
        readable_ = false;
        read_tls();
      }
      if (tls_ended_ || (readable_ && has_hung_up(false))) co_return;
      if (!timed_out_) continue;
      text = ":\n\n";
    }
    if (chunked) {
      char size[20];
      std::snprintf(size, sizeof size, "%zx\r\n", text.size());
      text = size + text + "\r\n";
    }
    if (!co_await send(text)) co_return;
    std::function<void()> drained;
    {
      const std::scoped_lock lock(line.mutex);
      line.writing = 0;
      if (line.waiting.empty()) drained.swap(line.drained);
    }
    if (drained) drained();
  }
  if (chunked) co_await send("0\r\n\r\n");
}

}  // namespace cairn::server
