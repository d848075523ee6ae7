// g++ 12 frees temporary aggregates and capturing lambdas twice inside a co_await expression. Give them a name first.
#include "http/connection.h"

#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http.hpp>

#include "base/log.h"
#include "http/translation.h"

namespace cairn::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

constexpr std::size_t tls_received_at_once = 4u << 10;
constexpr int unbroken_max = 16;

}  // namespace

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
    const PassedLimit passed{"http.answer_timeout", static_cast<std::size_t>(context_.settings.answer_timeout.count())};
    const std::string text = wire_text(problem(503, "The server took too long", passed), version_, keep_alive_, head_);
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

}  // namespace cairn::http
