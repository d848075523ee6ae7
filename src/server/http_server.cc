// The only file that includes Asio and Beast: they cost 20 s to compile.
//
// g++ 12 frees aggregates and capturing lambdas twice when they are temporaries inside an expression
// with co_await: name them first.
#include "server/http_server.h"

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/log.h"

namespace cairn::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

// Where the answer of one request arrives, from whatever thread. The timer is only a bell.
struct Answer {
  explicit Answer(const asio::any_io_executor& where) : executor(where), bell(where) {}
  asio::any_io_executor executor;
  asio::steady_timer bell;
  std::optional<Response> response;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

Response problem(int status, std::string_view title) {
  return {
      status,
      "application/problem+json",
      {},
      "{\"status\":" + std::to_string(status) + ",\"title\":\"" + std::string(title) + "\",\"type\":\"about:blank\"}"};
}

// A request that two parsers could read in two ways is refused, not guessed at.
bool ambiguous(const http::request<http::string_body>& message) {
  const auto count = [&](http::field name) {
    const auto [first, last] = message.equal_range(name);
    return std::distance(first, last);
  };
  const bool chunked = message.count(http::field::transfer_encoding) > 0;
  const std::string_view host(message[http::field::host].data(), message[http::field::host].size());
  return host.find_first_of(" \t") != std::string_view::npos ||
         (chunked && message.count(http::field::content_length) > 0) || count(http::field::content_length) > 1 ||
         count(http::field::transfer_encoding) > 1 || count(http::field::host) > 1 ||
         (message.version() == 11 && count(http::field::host) != 1) || (chunked && message.version() != 11);
}

// Nothing when the target is malformed.
std::optional<Request> to_request(http::request<http::string_body>&& message, const std::string& peer) {
  Request request;
  request.method = std::string(message.method_string());
  const std::string_view target(message.target().data(), message.target().size());
  if (target.empty() || target.front() != '/') return std::nullopt;
  const std::size_t mark = target.find('?');
  if (!percent_decode(target.substr(0, mark), false, request.path)) return std::nullopt;
  std::string_view query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    std::string name;
    std::string value;
    if (!percent_decode(part.substr(0, equals), true, name)) return std::nullopt;
    if (equals != std::string_view::npos && !percent_decode(part.substr(equals + 1), true, value)) return std::nullopt;
    request.query.emplace_back(std::move(name), std::move(value));
  }
  for (const auto& field : message) {
    request.headers.emplace_back(lower({field.name_string().data(), field.name_string().size()}),
                                 std::string(field.value()));
  }
  request.body = std::move(message.body());
  request.peer = peer;
  return request;
}

http::response<http::string_body> to_message(Response&& response, unsigned version, bool keep_alive, bool head) {
  http::response<http::string_body> message;
  message.result(static_cast<unsigned>(response.status));
  message.version(version);
  message.keep_alive(keep_alive);
  message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  const std::size_t length = response.body.size();
  if (!head) message.body() = std::move(response.body);
  if (response.status != 204 && response.status != 304) message.content_length(length);
  return message;
}

}  // namespace

struct HttpServer::Core {
  Core(const HttpSettings& given, Handler given_handler)
      : settings(given), handler(std::move(given_handler)), context(given.threads), acceptor(context) {}

  HttpSettings settings;
  Handler handler;
  asio::io_context context;
  tcp::acceptor acceptor;
  std::vector<std::jthread> threads;
  std::atomic<bool> draining{false};

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t connections = 0;
  std::size_t answering = 0;
  std::set<beast::tcp_stream*> idle;  // between requests; closed at once when draining

  asio::awaitable<void> accept() {
    while (!draining) {
      error_code failed;
      tcp::socket socket =
          co_await acceptor.async_accept(asio::make_strand(context), asio::redirect_error(asio::use_awaitable, failed));
      if (failed == asio::error::operation_aborted || draining) co_return;
      if (failed) {
        // Out of descriptors, most likely: give connections time to end instead of spinning.
        log_warning("http.accept_failed", {{"message", failed.message()}});
        asio::steady_timer pause(context, std::chrono::milliseconds(100));
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
        continue;
      }
      {
        const std::scoped_lock lock(mutex);
        if (connections >= settings.connections_max) {
          socket.close(failed);
          continue;
        }
        ++connections;
      }
      const auto executor = socket.get_executor();
      asio::co_spawn(executor, serve(beast::tcp_stream(std::move(socket))), asio::detached);
    }
  }

  asio::awaitable<void> serve(beast::tcp_stream stream) {
    error_code ignored;
    stream.socket().set_option(tcp::no_delay(true), ignored);
    const auto remote = stream.socket().remote_endpoint(ignored);
    const std::string peer = ignored ? std::string() : remote.address().to_string();
    try {
      co_await converse(stream, peer);
    } catch (const std::exception& failure) {
      log_error("http.connection_failed", {{"message", failure.what()}});
    }
    stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
    const std::scoped_lock lock(mutex);
    --connections;
    changed.notify_all();
  }

  asio::awaitable<void> converse(beast::tcp_stream& stream, const std::string& peer) {
    beast::flat_buffer buffer(settings.head_bytes_max + settings.body_bytes_max);
    for (;;) {
      error_code failed;
      if (buffer.size() == 0 && !co_await wait_for_request(stream)) co_return;

      http::request_parser<http::string_body> parser;
      parser.header_limit(static_cast<std::uint32_t>(settings.head_bytes_max));
      parser.body_limit(settings.body_bytes_max);
      stream.expires_after(settings.head_timeout);
      co_await http::async_read_header(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, failed));
      if (failed) {
        co_await refuse(stream, failed);
        co_return;
      }
      if (ambiguous(parser.get())) {
        co_await write(stream, problem(400, "The request can be read in two ways"), 11, false, false);
        co_return;
      }
      if (parser.content_length() && *parser.content_length() > settings.body_bytes_max) {
        co_await refuse(stream, http::error::body_limit);
        co_return;
      }
      stream.expires_after(settings.body_timeout);
      if (lower(std::string_view(parser.get()[http::field::expect].data(), parser.get()[http::field::expect].size())) ==
          "100-continue") {
        http::response<http::empty_body> go_on(http::status::continue_, 11);
        co_await http::async_write(stream, go_on, asio::redirect_error(asio::use_awaitable, failed));
        if (failed) co_return;
      }
      co_await http::async_read(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, failed));
      if (failed) {
        co_await refuse(stream, failed);
        co_return;
      }
      const bool head = parser.get().method() == http::verb::head;
      const unsigned version = parser.get().version();
      const bool keep_alive = parser.get().keep_alive();
      std::optional<Request> request = to_request(parser.release(), peer);
      Response response = problem(400, "The target is malformed");
      if (request) response = co_await answer(stream, std::move(*request));
      const bool more = keep_alive && !draining;
      if (!co_await write(stream, std::move(response), version, more, head) || !more) co_return;
    }
  }

  // True when bytes of the next request are there.
  asio::awaitable<bool> wait_for_request(beast::tcp_stream& stream) {
    {
      const std::scoped_lock lock(mutex);
      if (draining) co_return false;
      idle.insert(&stream);
    }
    error_code failed;
    asio::steady_timer limit(stream.get_executor(), settings.idle_timeout);
    const auto close_idle = [&stream](error_code cancelled) {
      error_code ignored;
      if (!cancelled) stream.socket().cancel(ignored);
    };
    limit.async_wait(close_idle);
    co_await stream.socket().async_wait(tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, failed));
    limit.cancel();
    const std::scoped_lock lock(mutex);
    idle.erase(&stream);
    co_return !failed;
  }

  asio::awaitable<Response> answer(beast::tcp_stream& stream, Request request) {
    const auto pending = std::make_shared<Answer>(stream.get_executor());
    pending->bell.expires_after(settings.answer_timeout);
    stream.expires_never();
    {
      const std::scoped_lock lock(mutex);
      ++answering;
    }
    const auto send = [pending](Response response) {
      auto deliver = [pending, response = std::move(response)]() mutable {
        if (pending->response) return;
        pending->response = std::move(response);
        pending->bell.cancel();
      };
      asio::post(pending->executor, std::move(deliver));
    };
    handler(std::move(request), Reply(send));
    error_code rung;
    if (!pending->response) co_await pending->bell.async_wait(asio::redirect_error(asio::use_awaitable, rung));
    Response response = pending->response ? std::move(*pending->response) : problem(503, "The server took too long");
    pending->response = Response{};  // a late answer is dropped
    const std::scoped_lock lock(mutex);
    --answering;
    changed.notify_all();
    co_return response;
  }

  asio::awaitable<bool> write(beast::tcp_stream& stream, Response response, unsigned version, bool keep_alive,
                              bool head) {
    error_code failed;
    stream.expires_after(settings.write_timeout);
    auto message = to_message(std::move(response), version, keep_alive, head);
    http::response_serializer<http::string_body> serializer(message);
    // A HEAD answer has the length of the body it does not send.
    if (head) {
      co_await http::async_write_header(stream, serializer, asio::redirect_error(asio::use_awaitable, failed));
    } else {
      co_await http::async_write(stream, serializer, asio::redirect_error(asio::use_awaitable, failed));
    }
    co_return !failed;
  }

  asio::awaitable<void> refuse(beast::tcp_stream& stream, error_code why) {
    if (why == http::error::end_of_stream || why == asio::error::operation_aborted) co_return;
    Response response = problem(400, "The request is not valid HTTP");
    if (why == http::error::body_limit) {
      response = problem(413, "The body is larger than the limit");
    } else if (why == http::error::header_limit || why == http::error::buffer_overflow) {
      response = problem(431, "The request head is larger than the limit");
    } else if (why.category() != http::make_error_code(http::error::bad_method).category()) {
      co_return;  // the connection broke; nobody is left to tell
    }
    co_await write(stream, std::move(response), 11, false, false);
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
  asio::co_spawn(core->context, core->accept(), asio::detached);
  for (int i = 0; i < settings.threads; ++i) {
    Core* running = core.get();
    core->threads.emplace_back([running] { running->context.run(); });
  }
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

std::uint16_t HttpServer::port() const {
  error_code ignored;
  return core_->acceptor.local_endpoint(ignored).port();
}

void HttpServer::drain(std::chrono::milliseconds grace) {
  core_->draining = true;
  const auto close = [core = core_.get()] {
    error_code ignored;
    core->acceptor.close(ignored);
    const std::scoped_lock lock(core->mutex);
    for (beast::tcp_stream* stream : core->idle) {
      asio::post(stream->get_executor(), [core, stream] {
        error_code failed;
        const std::scoped_lock inner(core->mutex);
        if (core->idle.count(stream) > 0) stream->socket().cancel(failed);
      });
    }
  };
  asio::post(core_->context, close);
  std::unique_lock lock(core_->mutex);
  core_->changed.wait_for(lock, grace, [this] { return core_->connections == 0; });
}

HttpServer::~HttpServer() {
  if (!core_) return;
  core_->draining = true;
  core_->context.stop();
  core_->threads.clear();
}

}  // namespace cairn::server
