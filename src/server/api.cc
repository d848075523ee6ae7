#include "server/api.h"

#include <charconv>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "server/problem.h"

namespace cairn::server {
namespace {

// Requests block on commits and long waits, so they run beside the connections' threads, and what
// many of them commit at once goes into one transaction.
constexpr std::size_t request_threads = 32;
constexpr std::size_t requests_queued_max = 10'000;

class RequestThreads {
 public:
  RequestThreads() {
    for (std::size_t i = 0; i < request_threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }
  ~RequestThreads() {
    for (std::jthread& thread : threads_) thread.request_stop();
    ready_.notify_all();
  }

  // False when too much waits already.
  bool submit(std::function<void()> job) {
    const std::scoped_lock lock(mutex_);
    if (jobs_.size() >= requests_queued_max) return false;
    jobs_.push_back(std::move(job));
    ready_.notify_one();
    return true;
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (ready_.wait(lock, stop, [this] { return !jobs_.empty(); })) {
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      try {
        job();
      } catch (const std::exception& failure) {
        log_error("http.request_failed", {{"message", failure.what()}});
      }
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::jthread> threads_;
};

}  // namespace

Response json_response(const Json& document, int status) {
  return {status, "application/json", {}, write_json(document)};
}

Actor actor_of(const Call& call) {
  const std::string_view user = call.request.header("x-cairn-user");
  return {user.empty() ? "anonymous" : std::string(user), std::nullopt};
}

PageRequest page_of(const Call& call) {
  PageRequest page;
  const std::string_view limit = call.request.query_value("limit");
  std::size_t value = 0;
  if (std::from_chars(limit.data(), limit.data() + limit.size(), value).ec == std::errc() && value > 0) {
    page.limit = std::min<std::size_t>(value, 1000);
  }
  page.cursor = std::string(call.request.query_value("cursor"));
  return page;
}

Result<std::optional<std::uint64_t>> version_of(const Call& call) {
  std::string_view text = call.request.header("if-match");
  if (text.empty()) return std::optional<std::uint64_t>();
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::uint64_t version = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), version);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return Error{ErrorCode::invalid, "If-Match takes the version that was seen, for example \"7\""};
  }
  return std::optional<std::uint64_t>(version);
}

struct Server::Parts {
  Router router;
  RequestThreads threads;
  std::unique_ptr<HttpServer> http;  // last: its connections end before what they use
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() = default;

std::vector<Route> api_routes(Coordinator& coordinator) {
  std::vector<Route> routes;
  for (auto* resource :
       {diagram_routes, definition_routes, instance_routes, task_routes, signal_routes, schedule_routes, outbox_routes,
        dead_letter_routes, run_routes, run_type_routes, operation_routes, why_routes, page_routes}) {
    for (Route& route : resource(coordinator)) routes.push_back(std::move(route));
  }
  return routes;
}

Result<std::unique_ptr<Server>> Server::open(Coordinator& coordinator, const HttpSettings& settings) {
  std::vector<Route> routes = api_routes(coordinator);
  // The document of the table cannot be made before the table is whole.
  const auto openapi = std::make_shared<std::string>();
  routes.push_back({"GET", "/openapi.json", Permission::open, "openapi", "This API as an OpenAPI 3.1 document",
                    [openapi](const Call& call) {
                      call.reply({200, "application/json", {}, *openapi});
                    }});
  auto parts = std::make_unique<Parts>();
  CAIRN_TRY(parts->router, Router::make(std::move(routes)));
  *openapi = write_json(parts->router.openapi());
  const auto handle = [running = parts.get()](Request request, Reply reply) {
    const auto shared = std::make_shared<Request>(std::move(request));
    const auto job = [running, shared, reply] { running->router.handle(std::move(*shared), reply); };
    if (!running->threads.submit(job)) {
      Response busy = problem(503, "overloaded", "Too many requests wait already", "try again in a moment");
      busy.headers.emplace_back("retry-after", "1");
      reply(std::move(busy));
    }
  };
  CAIRN_TRY(parts->http, HttpServer::listen(settings, handle));
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

std::uint16_t Server::port() const { return parts_->http->port(); }
void Server::drain(std::chrono::milliseconds grace) { parts_->http->drain(grace); }

}  // namespace cairn::server
