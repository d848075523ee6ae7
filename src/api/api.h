// src/api is the HTTP API of the engine: one table of routes (route.h), one `*_resource.cc` file per resource. access/
// authenticates callers and checks permissions; telemetry/ holds metrics, traces and health checks. The module uses
// http for connections and calls engine, schedule, upkeep, outbox and store for the work. The CLI uses the same routes
// for a local store. Read `Server::open` in server.cc first, then `start` in instances_resource.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/access/audit_trail.h"
#include "api/access/authenticator.h"
#include "api/access/inbound_hook.h"
#include "api/access/oidc_login.h"
#include "api/access/ticket.h"
#include "api/http_types.h"
#include "api/instance_waiters.h"
#include "api/route.h"
#include "api/telemetry/span_exporter.h"
#include "engine/core.h"
#include "http/request_threads.h"

namespace cairn::api {

// Each returns the routes of one resource. `core` must outlive them.
std::vector<Route> definition_routes(EngineCore& core);
std::vector<Route> diagram_routes(EngineCore& core);
std::vector<Route> instance_routes(EngineCore& core, std::shared_ptr<InstanceWaiters> waiters);
std::vector<Route> instance_view_routes(EngineCore& core);
std::vector<Route> instance_operation_routes(EngineCore& core);
std::vector<Route> run_routes(EngineCore& core);
std::vector<Route> run_type_routes(EngineCore& core);
std::vector<Route> task_routes(EngineCore& core);
std::vector<Route> draft_routes(EngineCore& core);
std::vector<Route> view_routes(EngineCore& core);
std::vector<Route> task_list_routes(EngineCore& core);
std::vector<Route> signal_routes(EngineCore& core);
std::vector<Route> schedule_routes(EngineCore& core);
std::vector<Route> outbox_routes(EngineCore& core);
std::vector<Route> dead_letter_routes(EngineCore& core);
std::vector<Route> operation_routes(EngineCore& core);
std::vector<Route> why_routes(EngineCore& core);
std::vector<Route> error_routes(EngineCore& core);
std::vector<Route> event_routes(EngineCore& core);
std::vector<Route> alert_routes(EngineCore& core, InstanceWaiters& waiters);
std::vector<Route> bulk_routes(EngineCore& core, InstanceWaiters& waiters);
std::vector<Route> key_routes(EngineCore& core);
std::vector<Route> audit_routes(EngineCore& core);
std::vector<Route> upkeep_routes(EngineCore& core);
std::vector<Route> problem_routes();
// Only for servers: the CLI receives no webhooks.
std::vector<Route> hook_routes(EngineCore& core, std::vector<InboundHook> hooks);
// Only for servers: links with which a person answers a task without an account, and credentials for other pages.
std::vector<Route> ticket_routes(EngineCore& core, std::shared_ptr<const Tickets> tickets, std::string base_path);
std::vector<Route> embed_routes(EngineCore& core, std::shared_ptr<const Tickets> tickets);
// Only for servers: who is signed in, and signing in and out. `authenticator` must outlive them. `login` may be null.
std::vector<Route> session_routes(Authenticator& authenticator, std::string base_path,
                                  std::shared_ptr<OidcLogin> login);
// All routes, in matching order. The CLI uses the same table for a local store. `waiters` holds the clients that wait
// for instances; it is closed when the server stops. It is shared with the routes.
std::vector<Route> api_routes(EngineCore& core, std::shared_ptr<InstanceWaiters> waiters);

// Marks the repeated answer to an `Idempotency-Key`.
inline constexpr const char* replayed_header = "idempotency-replayed";

Response json_response(const Json& document, int status = 200);
// The caller for checks on tasks: the person and their task roles. Without authentication the header `X-Cairn-User`, or
// "anonymous", whose roles are not checked.
Actor actor_of(const Call& call);
// Validates an id chosen by the caller: 1 to 200 letters, digits, `.`, `_`, `~`, `:` and `-`, but not `.` or `..`. Such
// an id fits into a path, a header and a log line unchanged. Other ids get 400.
bool is_caller_id(std::string_view id);
Response bad_id(std::string_view what);
// Reads `limit` and `cursor`; at most 1000 rows per page.
Result<PageRequest> page_of(const Call& call);
// Why the caller makes the request: `reason` in the body or the query, or the header X-Cairn-Reason. The body of a
// PATCH is data, so a member `reason` in it is not the reason.
std::string reason_of(const Call& call);

struct ServerSettings {
  HttpSettings http;
  AccessSettings access;
  std::vector<std::string> cors_origins;  // empty: pages of other origins cannot read answers
  bool log_requests = false;              // logs every request, not only failures
  std::shared_ptr<SpanExporter> spans;    // shared with the engine's observer; null: no traces
  std::vector<InboundHook> hooks = {};
  std::optional<OidcLoginSettings> login = {};  // signing in to the console at a provider; needs `access.tokens`
  std::string base_path = {};                   // below which browsers see the server: /cairn; empty: at the root
  CallerLimits limits = {};
  AuditSettings audit = {};
  // For diagrams, exports and searches. They run beside other requests at a lower priority.
  std::size_t expensive_threads = 2;
  // Requests that wait for a thread, and as many expensive ones.
  std::size_t requests_waiting_max = http::RequestThreads::queued_usual;
};

// Whether a listen address is reachable only from this machine.
bool is_this_machine(const std::string& host);

// Reports the engine's commits to `spans` for its lifetime. Call this before the first request.
void trace_units(EngineCore& core, std::shared_ptr<SpanExporter> spans);

// The whole server: routes, port, and threads on which requests may wait for the disk.
class Server {
 public:
  // ErrorCode::not_allowed if it would listen beyond this machine without authentication.
  static Result<std::unique_ptr<Server>> open(EngineCore& core, const ServerSettings& settings);
  // Without authentication; for this machine only.
  static Result<std::unique_ptr<Server>> open(EngineCore& core, const HttpSettings& settings) {
    ServerSettings all;
    all.http = settings;
    return open(core, all);
  }
  ~Server();

  std::uint16_t port() const;
  std::string metrics() const;  // the text of /metrics
  Result<void> reload_tls();
  // From now on /readyz fails, and every answer closes its connection. Requests are still accepted.
  void announce_drain();
  // Accepts nothing new and finishes the requests in progress. `handshakes` as in HttpServer::drain.
  void drain(std::chrono::milliseconds grace, std::chrono::milliseconds handshakes = std::chrono::milliseconds(0));

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace cairn::api
