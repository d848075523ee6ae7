// The HTTP API over a coordinator: one file per resource, one table of routes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/coordinator.h"
#include "api/access/audit_trail.h"
#include "api/access/authenticator.h"
#include "http/server.h"
#include "api/access/inbound_hook.h"
#include "api/instance_waiters.h"
#include "api/route.h"
#include "api/telemetry/span_exporter.h"

namespace cairn::server {

// Each gives the routes of one resource. `coordinator` outlives them.
std::vector<Route> definition_routes(Coordinator& coordinator);
std::vector<Route> diagram_routes(Coordinator& coordinator);
std::vector<Route> instance_routes(Coordinator& coordinator, std::shared_ptr<InstanceWaiters> desk);
std::vector<Route> run_routes(Coordinator& coordinator);
std::vector<Route> run_type_routes(Coordinator& coordinator);
std::vector<Route> task_routes(Coordinator& coordinator);
std::vector<Route> signal_routes(Coordinator& coordinator);
std::vector<Route> schedule_routes(Coordinator& coordinator);
std::vector<Route> outbox_routes(Coordinator& coordinator);
std::vector<Route> dead_letter_routes(Coordinator& coordinator);
std::vector<Route> operation_routes(Coordinator& coordinator);
std::vector<Route> why_routes(Coordinator& coordinator);
std::vector<Route> page_routes(Coordinator& coordinator);
std::vector<Route> event_routes(Coordinator& coordinator);
std::vector<Route> bulk_routes(Coordinator& coordinator, InstanceWaiters& desk);
std::vector<Route> key_routes(Coordinator& coordinator);
std::vector<Route> audit_routes(Coordinator& coordinator);
// Only of a server: on the command line nobody signs.
std::vector<Route> hook_routes(Coordinator& coordinator, std::vector<InboundHook> hooks);
// All of them, in the order in which they are tried. The command line asks a local store through the same table.
// `desk`: where clients wait for instances, to be closed when the server ends; shared with the routes.
std::vector<Route> api_routes(Coordinator& coordinator, std::shared_ptr<InstanceWaiters> desk);

// Of an answer to a request with an `Idempotency-Key` that was carried out before.
inline constexpr const char* replayed_header = "idempotency-replayed";

Response json_response(const Json& document, int status = 200);
// Who asks, for checks on tasks: the person, with the roles that they have there. Without authentication
// the header `X-Cairn-User`, else "anonymous", whose roles are not checked.
Actor actor_of(const Call& call);
// An id that the caller chose: 1 to 200 letters, digits, `.`, `_`, `~`, `:` and `-`, and not `.` or `..`, so that it
// fits into a path, a header and a log line as it is. Without it the answer is 400.
bool is_caller_id(std::string_view id);
Response bad_id(std::string_view what);
// `limit` and `cursor`; at most 1000 a page.
PageRequest page_of(const Call& call);
// If-Match: "7" or 7. Nothing without one; an error when it is no version.
Result<std::optional<std::uint64_t>> version_of(const Call& call);

struct ServerSettings {
  HttpSettings http;
  AccessSettings access;
  std::vector<std::string> cors_origins;  // none: no page from elsewhere may read answers
  bool log_requests = false;              // a line for every request, not only for failures
  std::shared_ptr<SpanExporter> spans;    // shared with the engine's observer; absent: no traces
  std::vector<InboundHook> hooks = {};
  CallerLimits limits = {};
  AuditSettings audit = {};
  // Of diagrams, exports and searches. They run beside other requests, at a lower priority.
  std::size_t expensive_threads = 2;
};

// Whether an address to listen on can only be reached from this machine.
bool is_this_machine(const std::string& host);

// Tells `spans` of what the coordinator commits, as long as that lives. Before the first request.
void trace_units(Coordinator& coordinator, std::shared_ptr<SpanExporter> spans);

// The whole server: routes, the port, and threads on which requests may wait for the disk.
class Server {
 public:
  // ErrorCode::not_allowed when it would listen beyond this machine without asking who calls.
  static Result<std::unique_ptr<Server>> open(Coordinator& coordinator, const ServerSettings& settings);
  // Without authentication, for this machine.
  static Result<std::unique_ptr<Server>> open(Coordinator& coordinator, const HttpSettings& settings) {
    return open(coordinator, ServerSettings{settings, {}, {}, false, nullptr, {}, {}, {}, 2});
  }
  ~Server();

  std::uint16_t port() const;
  std::string metrics() const;  // as /metrics gives them
  Result<void> reload_tls();
  // /readyz says no from now on, and every answer closes its connection. Requests are still taken.
  void announce_drain();
  // Takes nothing new and finishes what is under way; `handshakes` as HttpServer::drain has it.
  void drain(std::chrono::milliseconds grace, std::chrono::milliseconds handshakes = std::chrono::milliseconds(0));

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace cairn::server
