// The port: accepts connections and assigns them to threads. connection.cc handles what happens on a connection.
#include "http/server.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <map>
#include <vector>

#include "base/limit_refusals.h"
#include "base/log.h"
#include "http/connection.h"
#include "http/tls_context.h"

namespace cairn::http {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

// From now on the listening socket ignores new connections; handshakes in progress still complete. Closing the socket
// resets connections that are established but not accepted, so none may arrive in between.
void stop_new_connections(int socket) {
  constexpr std::uint32_t flags_at = 13;  // of the TCP header
  constexpr std::uint32_t syn = 0x02;
  constexpr std::uint32_t ack = 0x10;
  sock_filter steps[] = {
      {BPF_LD | BPF_B | BPF_ABS, 0, 0, flags_at}, {BPF_ALU | BPF_AND | BPF_K, 0, 0, syn | ack},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, syn},     {BPF_RET | BPF_K, 0, 0, 0},
      {BPF_RET | BPF_K, 0, 0, 0xffffffff},
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(steps)), steps};
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    log_info("http.filter_not_attached", {{"errno", errno}});
  }
}

}  // namespace

struct HttpServer::Core {
  Core(const HttpSettings& given, Handler handler)
      : context(given, std::move(handler)),
        acceptor((make_threads(given), threads.front()->context)),
        pause(acceptor.get_executor()) {
    context.left = [this](const tcp::endpoint& remote) { dismiss(remote); };
  }

  void make_threads(const HttpSettings& given) {
    for (int i = 0; i < std::max(given.threads, 1); ++i) threads.push_back(std::make_unique<IoThread>(given));
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<asio::ssl::context> tls;  // replaced when the certificate is read again
  std::size_t connections = 0;
  std::map<asio::ip::address, std::size_t> connections_from;  // remote addresses only

  ServerContext context;
  // The first thread owns the pending accept operation, which holds sockets of the other threads: it ends before them.
  std::vector<std::unique_ptr<IoThread>> threads;
  std::size_t next_thread = 0;
  tcp::acceptor acceptor;
  asio::steady_timer pause;

  void accept() {
    if (!acceptor.is_open()) return;
    IoThread& thread = *threads[next_thread++ % threads.size()];
    acceptor.async_accept(thread.context, [this, &thread](error_code failed, tcp::socket socket) {
      if (failed == asio::error::operation_aborted) return;
      if (!failed) {
        take(thread, std::move(socket));
        return accept();
      }
      // Probably out of file descriptors: wait for connections to close instead of spinning.
      log_warning("http.accept_failed", {{"message", failed.message()}});
      pause.expires_after(std::chrono::milliseconds(100));
      pause.async_wait([this](error_code cancelled) {
        if (!cancelled) accept();
      });
    });
  }

  // Accepts all established connections, then closes the port.
  void close_port() {
    error_code failed;
    acceptor.non_blocking(true, failed);
    while (!failed) {
      IoThread& thread = *threads[next_thread++ % threads.size()];
      tcp::socket socket(thread.context);
      acceptor.accept(socket, failed);
      if (!failed) take(thread, std::move(socket));
    }
    acceptor.close(failed);
  }

  // Closes the connections without a request and notifies the others.
  void end_connections() {
    context.draining = true;
    for (const auto& thread : threads) asio::post(thread->context, [&thread] { thread->drain(); });
    std::set<std::shared_ptr<EventStream::Line>> streams;
    {
      const std::scoped_lock lock(context.mutex);
      streams = context.streams;
    }
    for (const auto& line : streams) line->close();
    const std::scoped_lock lock(mutex);
    changed.notify_all();
  }

  void take(IoThread& thread, tcp::socket socket) {
    error_code failed;
    const tcp::endpoint remote = socket.remote_endpoint(failed);
    if (failed || !admit(remote)) {
      socket.close(failed);
      return;
    }
    std::shared_ptr<asio::ssl::context> certificate;
    {
      const std::scoped_lock lock(mutex);
      certificate = tls;
    }
    auto connection = std::make_shared<Connection>(context, thread, std::move(socket), remote, std::move(certificate));
    asio::post(thread.context, [&thread, connection = std::move(connection)] { thread.take(connection); });
  }

  bool admit(const tcp::endpoint& remote) {
    const auto refuse = [](std::string_view limit, std::size_t value) {
      count_limit_refusal(limit, static_cast<std::int64_t>(value));
      return false;
    };
    const HttpSettings& settings = context.settings;
    const std::scoped_lock lock(mutex);
    if (connections >= settings.connections_max) return refuse("http.connections_max", settings.connections_max);
    if (!remote.address().is_loopback() && settings.connections_per_address_max > 0) {
      std::size_t& count = connections_from[remote.address()];
      if (count >= settings.connections_per_address_max) {
        return refuse("http.connections_per_address_max", settings.connections_per_address_max);
      }
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
                                             (taken ? " (is another server running? use another port: --listen)" : "")};
  }
  if (settings.tls) {
    CAIRN_TRY(core->tls, tls_context(*settings.tls));
  }
  core->accept();
  for (const auto& thread : core->threads) thread->begin();
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
  if (!core_->context.settings.tls) return {};
  CAIRN_TRY(std::shared_ptr<asio::ssl::context> fresh, tls_context(*core_->context.settings.tls));
  const std::scoped_lock lock(core_->mutex);
  core_->tls = std::move(fresh);
  return {};
}

std::size_t HttpServer::body_bytes() const { return core_->context.bodies->used(); }

void HttpServer::announce_drain() { core_->context.leaving = true; }

void HttpServer::drain(std::chrono::milliseconds grace, std::chrono::milliseconds handshakes) {
  announce_drain();
  const auto until = std::chrono::steady_clock::now() + grace;
  core_->context.farewell =
      std::clamp<std::chrono::milliseconds>(grace / 10, std::chrono::seconds(1), std::chrono::seconds(3));
  stop_new_connections(core_->acceptor.native_handle());
  if (handshakes.count() > 0) std::this_thread::sleep_for(handshakes);
  asio::post(core_->acceptor.get_executor(), [core = core_.get()] {
    core->close_port();
    // After the last accepted connection, which may still be in the queue.
    asio::post(core->acceptor.get_executor(), [core] { core->end_connections(); });
  });
  std::unique_lock lock(core_->mutex);
  core_->changed.wait_until(lock, until, [this] { return core_->context.draining && core_->connections == 0; });
}

HttpServer::~HttpServer() {
  if (!core_) return;
  core_->context.leaving = true;
  core_->context.draining = true;
  for (const auto& thread : core_->threads) thread->end();
}

}  // namespace cairn::http
