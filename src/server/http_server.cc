// The only file that includes Asio and Beast (with http_wire.h, http_translation.h, tls_context.h): they cost 20 s to
// compile.
//
// g++ 12 frees aggregates and capturing lambdas twice when they are temporaries inside an expression
// with co_await: name them first.
#include "server/http_server.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/log.h"
#include "server/event_line.h"
#include "server/http_translation.h"
#include "server/http_wire.h"
#include "server/pending_answer.h"
#include "server/tls_context.h"

namespace cairn::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t head_piece = 4096;  // how much of a head is read at once

constexpr std::size_t joined_body = 16u << 10;  // a body up to this is copied behind its head and goes out with it

using Bell = std::shared_ptr<asio::steady_timer>;  // shared by the connection and the wake-ups on their way to it

// Rings from any thread, as long as the connection is there.
std::function<void()> rope_of(const Bell& bell) {
  return [bell] { asio::post(bell->get_executor(), [bell] { bell->cancel(); }); };
}

bool is_loopback(const tcp::endpoint& endpoint) { return endpoint.address().is_loopback(); }

}  // namespace

struct HttpServer::Core {
  Core(const HttpSettings& given, Handler given_handler)
      : settings(given),
        handler(std::move(given_handler)),
        contexts(static_cast<std::size_t>(std::max(given.threads, 1))),
        acceptor(contexts.front().context) {}

  HttpSettings settings;
  Handler handler;
  // One thread each, and a connection stays with one: its steps run one after the other without a strand, which would
  // put each of them through the scheduler a second time.
  struct Context {
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> running{context.get_executor()};
  };
  std::vector<Context> contexts;
  std::size_t next_context = 0;
  tcp::acceptor acceptor;
  std::vector<std::jthread> threads;
  std::atomic<bool> draining{false};

  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<asio::ssl::context> tls;  // replaced when the certificate is read again
  std::size_t connections = 0;
  std::map<asio::ip::address, std::size_t> connections_from;  // addresses that are not this machine
  std::set<Wire*> idle;                                       // between requests; closed at once when draining
  std::set<std::shared_ptr<EventStream::Line>> streams;       // closed when draining

  asio::awaitable<void> accept() {
    while (!draining) {
      error_code failed;
      asio::io_context& context = contexts[next_context++ % contexts.size()].context;
      tcp::socket socket =
          co_await acceptor.async_accept(context.get_executor(), asio::redirect_error(asio::use_awaitable, failed));
      if (failed == asio::error::operation_aborted || draining) co_return;
      if (failed) {
        // Out of descriptors, most likely: give connections time to end instead of spinning.
        log_warning("http.accept_failed", {{"message", failed.message()}});
        asio::steady_timer pause(acceptor.get_executor(), std::chrono::milliseconds(100));
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
        continue;
      }
      const tcp::endpoint remote = socket.remote_endpoint(failed);
      if (failed || !admit(remote)) {
        socket.close(failed);
        continue;
      }
      const auto executor = socket.get_executor();
      asio::co_spawn(executor, serve(std::move(socket), remote), asio::detached);
    }
  }

  bool admit(const tcp::endpoint& remote) {
    const std::scoped_lock lock(mutex);
    if (connections >= settings.connections_max) return false;
    if (!is_loopback(remote) && settings.connections_per_address_max > 0) {
      std::size_t& count = connections_from[remote.address()];
      if (count >= settings.connections_per_address_max) return false;
      ++count;
    }
    ++connections;
    return true;
  }

  void dismiss(const tcp::endpoint& remote) {
    const std::scoped_lock lock(mutex);
    --connections;
    if (const auto from = connections_from.find(remote.address()); from != connections_from.end()) {
      if (--from->second == 0) connections_from.erase(from);
    }
    changed.notify_all();
  }

  asio::awaitable<void> serve(tcp::socket socket, tcp::endpoint remote) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    {
      std::shared_ptr<asio::ssl::context> certificate;
      {
        const std::scoped_lock lock(mutex);
        certificate = tls;
      }
      Wire wire(std::move(socket), std::move(certificate));
      try {
        if (co_await shake_hands(wire)) co_await converse(wire, remote.address().to_string());
        co_await hang_up(wire);
      } catch (const std::exception& failure) {
        log_error("http.connection_failed", {{"message", failure.what()}});
      }
    }
    dismiss(remote);
  }

  asio::awaitable<bool> shake_hands(Wire& wire) {
    if (!wire.secure()) co_return true;
    error_code failed;
    wire.plain().expires_after(settings.head_timeout);
    co_await wire.tls().async_handshake(asio::ssl::stream_base::server,
                                        asio::redirect_error(asio::use_awaitable, failed));
    co_return !failed;
  }

  asio::awaitable<void> hang_up(Wire& wire) {
    error_code failed;
    if (wire.secure() && SSL_is_init_finished(wire.tls().native_handle()) == 1) {
      wire.plain().expires_after(std::chrono::seconds(2));
      co_await wire.tls().async_shutdown(asio::redirect_error(asio::use_awaitable, failed));
    }
    wire.socket().shutdown(tcp::socket::shutdown_both, failed);
  }

  asio::awaitable<void> converse(Wire& wire, const std::string& peer) {
    beast::flat_buffer buffer(settings.head_bytes_max + settings.body_bytes_max + head_piece);
    for (;;) {
      error_code failed;
      if (buffer.size() == 0 && !co_await wait_for_request(wire, buffer)) co_return;

      http::request_parser<http::string_body> parser;
      parser.header_limit(static_cast<std::uint32_t>(settings.head_bytes_max));
      parser.body_limit(settings.body_bytes_max);
      wire.plain().expires_after(settings.head_timeout);
      const std::optional<error_code> unread = co_await read_head(wire, buffer);
      if (unread) {
        co_await refuse(wire, *unread);
        co_return;
      }
      co_await http::async_read_header(wire, buffer, parser, asio::redirect_error(asio::use_awaitable, failed));
      if (failed) {
        co_await refuse(wire, failed);
        co_return;
      }
      if (const auto refusal = refusal_of(parser.get())) {
        Response answer = problem(refusal->first, refusal->second);
        co_await write(wire, std::move(answer), 11, false, false);
        co_return;
      }
      if (parser.content_length() && *parser.content_length() > settings.body_bytes_max) {
        co_await refuse(wire, http::error::body_limit);
        co_return;
      }
      wire.plain().expires_after(settings.body_timeout);
      if (lower(std::string_view(parser.get()[http::field::expect].data(), parser.get()[http::field::expect].size())) ==
          "100-continue") {
        http::response<http::empty_body> go_on(http::status::continue_, 11);
        co_await http::async_write(wire, go_on, asio::redirect_error(asio::use_awaitable, failed));
        if (failed) co_return;
      }
      co_await http::async_read(wire, buffer, parser, asio::redirect_error(asio::use_awaitable, failed));
      if (failed) {
        co_await refuse(wire, failed);
        co_return;
      }
      const bool head = parser.get().method() == http::verb::head;
      const unsigned version = parser.get().version();
      const bool keep_alive = parser.get().keep_alive();
      std::optional<Request> request = to_request(parser.release());
      Response response = problem(400, "The target is malformed");
      if (request) {
        request->peer = peer;
        request->secure = wire.secure();
        std::optional<Response> answered = co_await answer(wire, std::move(*request));
        if (!answered) co_return;
        response = std::move(*answered);
      }
      if (response.stream && !head) {
        co_await stream(wire, std::move(response), version);
        co_return;
      }
      const bool more = keep_alive && request && !draining;
      if (!co_await write(wire, std::move(response), version, more, head) || !more) co_return;
    }
  }

  // A request that two parsers could read in two ways is refused, not guessed at.
  std::optional<std::pair<int, const char*>> refusal_of(const http::request<http::string_body>& message) const {
    std::size_t headers = 0;
    for (const auto& field : message) {
      if (++headers > settings.headers_max) return std::pair(431, "There are too many headers");
      if (field.name_string().size() + field.value().size() > settings.header_bytes_max) {
        return std::pair(431, "A header is larger than the limit");
      }
    }
    if (ambiguous(message)) return std::pair(400, "The request can be read in two ways");
    return std::nullopt;
  }

  // Until the head is whole. Beast would read over folded lines, which others read in another way.
  asio::awaitable<std::optional<error_code>> read_head(Wire& wire, beast::flat_buffer& buffer) {
    for (;;) {
      const std::string_view bytes(static_cast<const char*>(buffer.data().data()), buffer.size());
      const Head head = look_at_head(bytes);
      if (head.bad) co_return http::make_error_code(http::error::bad_field);
      if (head.whole) co_return std::nullopt;
      if (buffer.size() > settings.head_bytes_max) co_return http::make_error_code(http::error::header_limit);
      error_code failed;
      const auto space = buffer.prepare(head_piece);
      const std::size_t count = co_await wire.async_read_some(space, asio::redirect_error(asio::use_awaitable, failed));
      buffer.commit(count);
      if (failed) co_return failed;
    }
  }

  // True when bytes of the next request are there.
  asio::awaitable<bool> wait_for_request(Wire& wire, beast::flat_buffer& buffer) {
    constexpr std::size_t kept_while_idle = 16u << 10;
    if (buffer.capacity() > kept_while_idle) buffer.shrink_to_fit();
    {
      const std::scoped_lock lock(mutex);
      if (draining) co_return false;
      idle.insert(&wire);
    }
    error_code failed;
    if (wire.secure()) {
      // Bytes that were received but not decrypted yet would not make the socket readable: read.
      wire.plain().expires_after(settings.idle_timeout);
      const auto space = buffer.prepare(512);
      const std::size_t count = co_await wire.async_read_some(space, asio::redirect_error(asio::use_awaitable, failed));
      buffer.commit(count);
    } else {
      asio::steady_timer limit(wire.get_executor(), settings.idle_timeout);
      const auto close_idle = [&wire](error_code cancelled) {
        error_code ignored;
        if (!cancelled) wire.socket().cancel(ignored);
      };
      limit.async_wait(close_idle);
      co_await wire.socket().async_wait(tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, failed));
      limit.cancel();
    }
    const std::scoped_lock lock(mutex);
    idle.erase(&wire);
    co_return !failed;
  }

  // Nothing when the client has hung up meanwhile.
  asio::awaitable<std::optional<Response>> answer(Wire& wire, Request request) {
    const auto bell = std::make_shared<asio::steady_timer>(wire.get_executor());
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    const ClosedAtTheEnd<PendingAnswer> pending(std::make_shared<PendingAnswer>(rope_of(bell)));
    const auto until = std::chrono::steady_clock::now() + settings.answer_timeout;
    wire.plain().expires_never();
    const bool watched = settings.watched && settings.watched(request);
    const auto unwatched = watched ? std::chrono::milliseconds(0) : settings.unwatched;
    const auto send = [answer = pending.shared](Response response) { answer->give(std::move(response)); };
    handler(std::move(request), Reply(send, gone));
    error_code rung;
    bell->expires_after(std::min(unwatched, settings.answer_timeout));
    if (pending.shared->await()) {
      co_await bell->async_wait(asio::redirect_error(asio::use_awaitable, rung));
    }
    if (!pending.shared->given()) {
      watch_for_hanging_up(wire, bell, gone);
      bell->expires_at(until);
      if (!pending.shared->given() && !*gone) {
        co_await bell->async_wait(asio::redirect_error(asio::use_awaitable, rung));
      }
      wire.socket().cancel(rung);
    }
    std::optional<Response> response = pending.shared->close();
    if (!response && !*gone) response = problem(503, "The server took too long");
    co_return response;
  }

  // Rings when the client closes its side while it waits for an answer or listens to a stream.
  static void watch_for_hanging_up(Wire& wire, const Bell& bell, const std::shared_ptr<std::atomic<bool>>& gone) {
    const auto readable = [&wire, alive = wire.alive(), bell, gone](error_code failed) {
      if (failed == asio::error::operation_aborted || alive.expired()) return;
      if (!failed) {
        char byte = 0;
        const auto count = ::recv(wire.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (count > 0) return;  // the next request
        // Woken for bytes of this request, which were read before the watch began.
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
          return watch_for_hanging_up(wire, bell, gone);
        }
      }
      *gone = true;
      bell->cancel();
    };
    wire.socket().async_wait(tcp::socket::wait_read, readable);
  }

  asio::awaitable<void> stream(Wire& wire, Response response, unsigned version) {
    const auto bell = std::make_shared<asio::steady_timer>(wire.get_executor());
    const auto gone = std::make_shared<std::atomic<bool>>(false);
    const ClosedAtTheEnd<EventStream::Line> ending(
        std::make_shared<EventStream::Line>(rope_of(bell), settings.stream_bytes_max));
    const std::shared_ptr<EventStream::Line>& line = ending.shared;
    {
      const std::scoped_lock lock(mutex);
      if (!draining) streams.insert(line);
    }
    const bool chunked = version == 11;
    std::string head = "HTTP/1." + std::string(chunked ? "1" : "0") +
                       " 200 OK\r\ncontent-type: " + response.content_type +
                       "\r\ncache-control: no-store\r\nconnection: close\r\n";
    for (const auto& [name, value] : response.headers) head += name + ": " + value + "\r\n";
    head += chunked ? "transfer-encoding: chunked\r\n\r\n" : "\r\n";
    if (co_await send(wire, head)) {
      watch_for_hanging_up(wire, bell, gone);
      const EventStream events(line);
      response.stream(events);
      response.stream = nullptr;
      co_await pump(wire, *line, bell, *gone, chunked);
      error_code ignored;
      wire.socket().cancel(ignored);
    }
    const std::scoped_lock lock(mutex);
    streams.erase(line);
  }

  asio::awaitable<void> pump(Wire& wire, EventStream::Line& line, Bell bell, std::atomic<bool>& gone, bool chunked) {
    while (!gone) {
      bell->expires_after(settings.stream_beat);
      std::string text;
      bool closed = false;
      {
        const std::scoped_lock lock(line.mutex);
        text.swap(line.waiting);
        line.writing = text.size();
        closed = !line.ring;
      }
      if (text.empty() && closed) break;
      if (text.empty()) {
        error_code rung;
        co_await bell->async_wait(asio::redirect_error(asio::use_awaitable, rung));
        if (rung) continue;  // something was sent, or it is over
        text = ":\n\n";
      }
      if (chunked) {
        char size[20];
        std::snprintf(size, sizeof size, "%zx\r\n", text.size());
        text = size + text + "\r\n";
      }
      if (!co_await send(wire, text)) co_return;
      std::function<void()> drained;
      {
        const std::scoped_lock lock(line.mutex);
        line.writing = 0;
        if (line.waiting.empty()) drained.swap(line.drained);
      }
      if (drained) drained();
    }
    if (!gone && chunked) {
      const std::string end = "0\r\n\r\n";
      co_await send(wire, end);
    }
  }

  asio::awaitable<bool> send(Wire& wire, const std::string& text) {
    error_code failed;
    wire.plain().expires_after(settings.write_timeout);
    co_await asio::async_write(wire, asio::buffer(text), asio::redirect_error(asio::use_awaitable, failed));
    co_return !failed;
  }

  asio::awaitable<bool> write(Wire& wire, Response response, unsigned version, bool keep_alive, bool head) {
    error_code failed;
    wire.plain().expires_after(settings.write_timeout);
    std::string text = head_of(response, version, keep_alive);
    // A HEAD answer has the length of the body it does not send.
    if (head || response.body.size() <= joined_body) {
      if (!head) text += response.body;
      co_await asio::async_write(wire, asio::buffer(text), asio::redirect_error(asio::use_awaitable, failed));
    } else {
      const std::array<asio::const_buffer, 2> pieces{asio::buffer(text), asio::buffer(response.body)};
      co_await asio::async_write(wire, pieces, asio::redirect_error(asio::use_awaitable, failed));
    }
    co_return !failed;
  }

  asio::awaitable<void> refuse(Wire& wire, error_code why) {
    if (why == http::error::end_of_stream || why == asio::error::operation_aborted) co_return;
    Response response = problem(400, "The request is not valid HTTP");
    if (why == http::error::body_limit) {
      response = problem(413, "The body is larger than the limit");
    } else if (why == http::error::header_limit || why == http::error::buffer_overflow) {
      response = problem(431, "The request head is larger than the limit");
    } else if (why == beast::error::timeout) {
      // The time-out has closed the connection; nobody is left to tell.
      co_return;
    } else if (why.category() != http::make_error_code(http::error::bad_method).category()) {
      co_return;  // the connection broke
    }
    co_await write(wire, std::move(response), 11, false, false);
  }
};

HttpServer::HttpServer(std::unique_ptr<Core> core) : core_(std::move(core)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const HttpSettings& settings, Handler handler) {
  auto core = std::make_unique<Core>(settings, std::move(handler));
  const std::string where = settings.host + ":" + std::to_string(settings.port);
  error_code failed;
  const auto address = asio::ip::make_address(settings.host == "localhost" ? "127.0.0.1" : settings.host, failed);
  if (failed) return Error{ErrorCode::invalid, "\"" + settings.host + "\" is not an IP address to listen on"};
  const tcp::endpoint endpoint(address, settings.port);
  core->acceptor.open(endpoint.protocol(), failed);
  if (!failed) core->acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) core->acceptor.bind(endpoint, failed);
  if (!failed) core->acceptor.listen(tcp::acceptor::max_listen_connections, failed);
  if (failed) {
    const bool taken = failed == asio::error::address_in_use;
    return Error{ErrorCode::unavailable, "cannot listen on " + where + ": " + failed.message() +
                                             (taken ? " (another server? choose another port with --listen)" : "")};
  }
  if (settings.tls) {
    CAIRN_TRY(core->tls, tls_context(*settings.tls));
  }
  asio::co_spawn(core->acceptor.get_executor(), core->accept(), asio::detached);
  for (Core::Context& one : core->contexts) core->threads.emplace_back([&one] { one.context.run(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

std::uint16_t HttpServer::port() const {
  error_code ignored;
  return core_->acceptor.local_endpoint(ignored).port();
}

std::size_t HttpServer::connections() const {
  const std::scoped_lock lock(core_->mutex);
  return core_->connections;
}

Result<void> HttpServer::reload_tls() {
  if (!core_->settings.tls) return {};
  CAIRN_TRY(std::shared_ptr<asio::ssl::context> fresh, tls_context(*core_->settings.tls));
  const std::scoped_lock lock(core_->mutex);
  core_->tls = std::move(fresh);
  return {};
}

void HttpServer::drain(std::chrono::milliseconds grace) {
  core_->draining = true;
  const auto close = [core = core_.get()] {
    error_code ignored;
    core->acceptor.close(ignored);
    const std::scoped_lock lock(core->mutex);
    for (Wire* wire : core->idle) {
      asio::post(wire->get_executor(), [core, wire] {
        error_code failed;
        const std::scoped_lock inner(core->mutex);
        if (core->idle.count(wire) > 0) wire->socket().cancel(failed);
      });
    }
    for (const auto& line : core->streams) line->close();
  };
  asio::post(core_->acceptor.get_executor(), close);
  std::unique_lock lock(core_->mutex);
  core_->changed.wait_for(lock, grace, [this] { return core_->connections == 0; });
}

HttpServer::~HttpServer() {
  if (!core_) return;
  core_->draining = true;
  for (Core::Context& one : core_->contexts) one.context.stop();
  core_->threads.clear();
}

}  // namespace cairn::server
