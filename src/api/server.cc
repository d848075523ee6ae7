#include <mutex>

#include "api/access/api_gate.h"
#include "api/access/origin.h"
#include "api/api.h"
#include "api/console.h"
#include "api/problem.h"
#include "api/telemetry/readiness.h"
#include "api/telemetry/store_metrics.h"
#include "api/telemetry/workflow_metrics.h"
#include "base/log.h"
#include "http/gzip.h"
#include "http/quick_lane.h"
#include "http/request_threads.h"
#include "store/audit_scope.h"

namespace cairn::api {

using http::QuickLane;
using http::RequestThreads;

namespace {

bool has(const Headers& headers, std::string_view name) {
  for (const auto& header : headers) {
    if (header.first == name) return true;
  }
  return false;
}

// Adds the headers of every answer, unless the answer sets them itself.
void add_headers(Response& response, const TraceContext& trace, bool secure) {
  response.headers.emplace_back("traceparent", trace.header());
  if (secure) response.headers.emplace_back("strict-transport-security", "max-age=31536000");
  if (!response.standing_headers.empty()) return;                 // a file of the console, which has its own
  const bool picture = response.content_type == "image/svg+xml";  // contains its own style
  if (!picture && !has(response.headers, "cache-control")) {
    response.standing_headers =
        "x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\ncache-control: no-store\r\n"
        "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n";
    return;
  }
  response.headers.emplace_back("x-content-type-options", "nosniff");
  response.headers.emplace_back("referrer-policy", "no-referrer");
  if (!has(response.headers, "cache-control")) response.headers.emplace_back("cache-control", "no-store");
  response.headers.emplace_back("content-security-policy",
                                picture ? "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
                                        : "default-src 'none'; frame-ancestors 'none'");
}

// One request from its arrival to its answer.
struct Visit {
  explicit Visit(Request given) : request(std::move(given)) {
    record.trace = trace_of(request.header("traceparent"));
    method = request.method;
    path = request.path;
    peer = request.peer;
    secure = request.secure;
    encoding = std::string(request.header("accept-encoding"));
    origin = std::string(request.header("origin"));
  }
  RequestRecord record;
  Request request;  // until it is handled
  Router::Match match;
  // Needed later for the log and the headers.
  std::string method;
  std::string path;
  std::string peer;
  std::string encoding;
  std::string origin;
  bool secure = false;
  bool from_allowed_page = false;
  std::chrono::system_clock::time_point began = std::chrono::system_clock::now();
};

void log_answer(const Visit& visit, int status, double ms, bool every_request) {
  if (status < 500 && !every_request) return;
  const RequestRecord& record = visit.record;
  log(status >= 500 ? LogLevel::error : LogLevel::info, "http.request",
      {{"operation", record.operation},
       {"method", visit.method},
       {"path", visit.path},
       {"status", status},
       {"ms", ms},
       {"account", record.account},
       {"peer", visit.peer},
       {"trace", record.trace.trace},
       {"span", record.trace.span}});
}

// Lower priority than other request threads, but still a share of a busy CPU.
constexpr int slow_lane_niceness = 10;

}  // namespace

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Members in construction order; pending answers hold the shared ones.
struct Server::Parts {
  Parts(EngineCore& with, const ServerSettings& given)
      : core(with),
        settings(given),
        authenticator(core.store(), given.access),
        audit(std::make_shared<AuditTrail>(core.store(), given.audit)),
        waiters(std::make_shared<InstanceWaiters>(core)),
        reads_are_local(!core.store().traits().shared),
        gate(core, authenticator, given.limits, slow_lane, audit, metrics),
        slow_lane(given.expensive_threads, slow_lane_niceness, given.requests_waiting_max),
        threads(RequestThreads::threads_usual, 0, given.requests_waiting_max),
        console(given.base_path) {}

  void receive(Request request, Reply reply);
  // Whether the caller may send the body of a request, by its head.
  void admit(const Request& head, std::function<void(Admission)> decide);
  Admission judge(Router::Match match, Request head);
  // Counts and logs the answer and adds the common headers.
  Reply finishing(const std::shared_ptr<Visit>& visit, const Reply& reply);
  // Whether the request is handled on this thread at once, because it will not block.
  bool is_prompt(const Visit& visit);
  void add_metrics(UpkeepStore& store);
  // The last requests may read metrics while the connections are being closed; then the value is 0.
  double of_http(std::size_t (HttpServer::*figure)() const) {
    const std::scoped_lock lock(http_mutex);
    return http_shown == nullptr ? 0 : static_cast<double>((http_shown->*figure)());
  }
  ~Parts() {
    const std::scoped_lock lock(http_mutex);
    http_shown = nullptr;
  }

  EngineCore& core;
  const ServerSettings settings;
  Authenticator authenticator;
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  std::shared_ptr<AuditTrail> audit;
  std::shared_ptr<InstanceWaiters> waiters;  // shared with the routes
  const bool reads_are_local;                // a store shared with other machines is read over the network
  QuickLane quick_lane;
  ApiGate gate;
  std::atomic<bool> draining{false};
  std::unique_ptr<Readiness> readiness;
  Router router;
  RequestThreads slow_lane;
  RequestThreads threads;  // destroyed before the slow lane, which its last requests still use
  const Console console;
  std::mutex http_mutex;
  HttpServer* http_shown = nullptr;  // `http`, until it is being destroyed
  std::unique_ptr<HttpServer> http;  // last: its connections close before what they use
};

namespace {

Response overloaded(const RequestThreads& threads) {
  return limit_problem(503, "limits.requests_waiting_max", threads.queued_max(), "try again in a moment");
}

// Health checks would dominate the metrics and the log.
bool is_probe(std::string_view operation) {
  return operation == "livez" || operation == "healthz" || operation == "readyz" || operation == "metrics";
}

Span span_of(const Visit& visit, int status) {
  const RequestRecord& record = visit.record;
  Span span;
  span.trace = record.trace.trace;
  span.id = record.trace.span;
  span.parent = record.trace.parent;
  span.name = std::string(record.operation);
  span.kind = Span::Kind::server;
  span.began = visit.began;
  span.ended = std::chrono::system_clock::now();
  span.attributes = {{"http.request.method", visit.method},
                     {"url.path", visit.path},
                     {"http.response.status_code", status},
                     {"client.address", visit.peer},
                     {"enduser.id", record.account}};
  span.failed = status >= 500;
  return span;
}

}  // namespace

void trace_units(EngineCore& core, std::shared_ptr<SpanExporter> spans) {
  core.listeners().observe([spans = std::move(spans)](const Slice& unit) {
    const AuditScope* const audit_scope = AuditScope::current();
    const std::string traceparent = audit_scope == nullptr ? std::string() : audit_scope->traceparent();
    for (Span& span : spans_of(unit, traceparent, std::chrono::system_clock::now())) spans->add(std::move(span));
  });
}

bool Server::Parts::is_prompt(const Visit& visit) {
  constexpr std::size_t body_max = 16u << 10;
  const Route* const route = visit.match.route;
  if (route != nullptr && route->immediate) return true;
  return reads_are_local && route != nullptr && route->prompt && visit.request.body.size() <= body_max &&
         quick_lane.is_open(visit.record.began) && route->prompt(visit.request, visit.match.path) &&
         (visit.request.caller != nullptr || authenticator.is_at_hand(visit.request));
}

Reply Server::Parts::finishing(const std::shared_ptr<Visit>& visit, const Reply& reply) {
  // The system that started a trace decides whether it is kept.
  if (settings.spans && visit->record.trace.parent.empty()) visit->record.trace.sampled = true;
  visit->from_allowed_page = allowed_by_cors(visit->origin, settings.cors_origins);
  return reply.through(
      [counted = metrics, visit, reply, spans = settings.spans, every = settings.log_requests](Response response) {
        const RequestRecord& record = visit->record;
        const auto took = std::chrono::steady_clock::now() - record.began;
        if (spans && record.trace.sampled && !is_probe(record.operation)) spans->add(span_of(*visit, response.status));
        counted->count_request(record.operation, response.status, took);
        log_answer(*visit, response.status, std::chrono::duration<double, std::milli>(took).count(), every);
        compress(response, visit->encoding);
        if (visit->from_allowed_page) add_cors(response, visit->origin);
        add_headers(response, record.trace, visit->secure);
        reply(std::move(response));
      });
}

Admission Server::Parts::judge(Router::Match match, Request head) {
  const auto now = std::chrono::steady_clock::now();
  const auto visit = std::make_shared<Visit>(std::move(head));
  const auto refusal = std::make_shared<Response>();  // shared with the reply, which may be dropped unused
  const Reply refuse([refusal](Response response) { *refusal = std::move(response); });
  Admission admission;
  if (match.route == nullptr) {
    router.handle(std::move(match), std::move(visit->request), refuse, &gate, &visit->record);
  } else {
    const Route& route = *match.route;
    visit->record.operation = route.operation;
    Call call{std::move(visit->request), std::move(match.path), {}, refuse};
    call.trace = visit->record.trace;
    // Before the gate, which writes a refused call to the audit trail.
    if (auto bad = refuse_headers(call.request)) {
      refuse(std::move(*bad));
    } else if (gate.admit_head(route, call)) {
      // Nothing is counted here: the whole request counts later.
      admission.caller = std::make_shared<const KnownCaller>(KnownCaller{std::move(call.identity), now});
      return admission;
    }
  }
  finishing(visit,
            Reply([&admission](Response response) { admission.refusal = std::move(response); }))(std::move(*refusal));
  return admission;
}

void Server::Parts::admit(const Request& head, std::function<void(Admission)> decide) {
  Router::Match match = router.match(head);
  const Permission permission = match.route == nullptr ? Permission::undeclared : match.route->permission;
  // The signer is known only after the whole body, and open routes have no authentication.
  if (permission == Permission::open || permission == Permission::signed_request) return decide({});
  if (authenticator.is_at_hand(head)) return decide(judge(std::move(match), head));
  const auto decided = std::make_shared<std::function<void(Admission)>>(std::move(decide));
  const auto job = [this, match = std::move(match), head, decided] { (*decided)(judge(match, head)); };
  if (threads.submit(job)) return;
  metrics->count_refusal("overloaded");
  Admission busy;
  busy.refusal = overloaded(threads);
  (*decided)(std::move(busy));
}

void Server::Parts::receive(Request request, Reply reply) {
  const auto visit = std::make_shared<Visit>(std::move(request));
  const Reply finish = finishing(visit, reply);
  if (visit->from_allowed_page && visit->method == "OPTIONS") {
    finish(preflight());
    return;
  }
  if (auto refusal = foreign(visit->request, settings.cors_origins, settings.access.required)) {
    metrics->count_refusal("foreign");
    finish(std::move(*refusal));
    return;
  }
  visit->match = router.match(visit->request);
  if (visit->match.route == nullptr && visit->match.allowed.empty()) {
    if (auto page = console.answer(visit->request)) {
      visit->record.operation = "console";
      finish(std::move(*page));
      return;
    }
  }
  const auto carry_out = [this, visit, finish] {
    router.handle(std::move(visit->match), std::move(visit->request), finish, &gate, &visit->record);
  };
  if (is_prompt(*visit)) {
    quick_lane.pass(carry_out);
  } else if (!threads.submit(carry_out)) {
    metrics->count_refusal("overloaded");
    finish(overloaded(threads));
  }
}

void Server::Parts::add_metrics(UpkeepStore& store) {
  metrics->gauge("cairn_http_connections", "Open connections.", [this] { return of_http(&HttpServer::connections); });
  metrics->gauge("cairn_http_body_bytes", "Bytes of the bodies of requests that are read or handled.",
                 [this] { return of_http(&HttpServer::body_bytes); });
  metrics->gauge("cairn_http_requests_waiting", "Requests that wait for a thread.",
                 [this] { return static_cast<double>(threads.waiting()); });
  metrics->gauge("cairn_http_expensive_waiting", "Diagrams, exports and searches that wait for a thread.",
                 [this] { return static_cast<double>(slow_lane.waiting()); });
  metrics->gauge("cairn_audit_rows_waiting", "Rows of the audit trail that are not written yet.",
                 [this] { return static_cast<double>(audit->waiting()); });
  if (settings.spans) {
    const SpanExporter& spans = *settings.spans;
    metrics->counter("cairn_otlp_spans_sent_total", "Spans that the collector accepted.",
                     [&spans] { return static_cast<double>(spans.sent()); });
    metrics->counter("cairn_otlp_spans_dropped_total",
                     "Spans dropped because too many waited or the collector refused them.",
                     [&spans] { return static_cast<double>(spans.dropped()); });
    metrics->counter("cairn_otlp_failures_total", "Requests that the collector did not accept.",
                     [&spans] { return static_cast<double>(spans.failures()); });
    metrics->gauge("cairn_otlp_spans_waiting", "Spans that are not sent yet.",
                   [&spans] { return static_cast<double>(spans.waiting()); });
  }
  add_store_metrics(*metrics, store);
  add_process_metrics(*metrics);
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::open(EngineCore& core, const ServerSettings& settings) {
  if (!settings.access.required && !is_this_machine(settings.http.host)) {
    return Error{ErrorCode::not_allowed,
                 "a server without authentication may listen on this machine only (127.0.0.1), not on " +
                     settings.http.host + "; set auth to required"};
  }
  ServerSettings complete = settings;
  CAIRN_TRY(complete.access.tickets, Tickets::given_or_new(settings.access.tickets));
  auto parts = std::make_unique<Parts>(core, complete);
  Parts* const running = parts.get();
  std::vector<Route> routes = api_routes(core, parts->waiters);
  for (Route& route : hook_routes(core, settings.hooks)) routes.push_back(std::move(route));
  for (Route& route : ticket_routes(core, complete.access.tickets, settings.base_path)) {
    routes.push_back(std::move(route));
  }
  const auto login =
      settings.login && settings.access.tokens
          ? std::make_shared<OidcLogin>(*settings.login, post_over_https(settings.access.tokens->ca_file))
          : nullptr;
  for (Route& route : session_routes(parts->authenticator, settings.base_path, login)) {
    routes.push_back(std::move(route));
  }
  // The OpenAPI document cannot be created before the table is complete.
  const auto openapi = std::make_shared<std::string>();
  routes.push_back({"GET", "/openapi.json", Permission::open, "openapi", "This API as an OpenAPI 3.1 document",
                    [openapi](const Call& call) {
                      call.reply({200, "application/json", {}, *openapi});
                    }});
  // Ready means: the store is writable and the server is not shutting down.
  parts->readiness = std::make_unique<Readiness>([&core]() -> Response {
    const auto able = core.store().check_writable();
    if (!able) {
      return problem(503, to_string(able.error().code), "The store is not writable", able.error().message);
    }
    return {200, "text/plain; charset=utf-8", {}, "ready\n"};
  });
  Route ready{
      "GET",
      "/readyz",
      Permission::open,
      "readyz",
      "The store is writable and the server accepts work",
      [running](const Call& call) {
        if (running->draining) {
          call.reply(problem(503, "draining", "The server is shutting down", "send the request to another node"));
        } else {
          running->readiness->ask(call.reply);
        }
      }};
  ready.immediate = true;
  routes.push_back(std::move(ready));
  routes.push_back({"GET", "/metrics", Permission::view, "metrics", "Metrics for Prometheus",
                    [counted = parts->metrics](const Call& call) {
                      call.reply({200, "text/plain; version=0.0.4; charset=utf-8", {}, counted->text()});
                    }});
  CAIRN_TRY(parts->router, Router::make(std::move(routes)));
  *openapi = write_json(parts->router.openapi());
  parts->add_metrics(core.store());
  parts->metrics->counter("cairn_signals_expired_total",
                          "Kept signals that became dead letters because their time was over.",
                          [&core] { return static_cast<double>(core.context().signals_expired.load()); });
  add_workflow_metrics(*parts->metrics, core.counts());
  add_retention_metrics(*parts->metrics, core.removed());
  const auto handle = [running](Request request, Reply reply) {
    running->console.strip_base_path(request.path);
    running->receive(std::move(request), std::move(reply));
  };
  HttpSettings http = settings.http;
  // A dead worker must not get runs: no other worker could lease them until their leases expire.
  http.admit = [running](const Request& head, std::function<void(Admission)> decide) {
    Request request = head;
    running->console.strip_base_path(request.path);
    running->admit(request, std::move(decide));
  };
  http.refused = [counted = parts->metrics](std::string_view reason) { counted->count_refusal(reason); };
  http.watched = [running](const Request& request) {
    std::string path = request.path;
    running->console.strip_base_path(path);
    return path == "/v1/runs/lease";
  };
  CAIRN_TRY(parts->http, HttpServer::listen(http, handle));
  {
    const std::scoped_lock lock(parts->http_mutex);
    parts->http_shown = parts->http.get();
  }
  parts->waiters->serve();
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

std::uint16_t Server::port() const { return parts_->http->port(); }
std::string Server::metrics() const { return parts_->metrics->text(); }
Result<void> Server::reload_tls() { return parts_->http->reload_tls(); }

void Server::announce_drain() {
  parts_->draining = true;
  parts_->http->announce_drain();
}

void Server::drain(std::chrono::milliseconds grace, std::chrono::milliseconds handshakes) {
  announce_drain();
  parts_->core.expect_stop();
  parts_->waiters->close();
  parts_->http->drain(grace, handshakes);
}

}  // namespace cairn::api
