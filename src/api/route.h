// One table of routes defines the router, the permission checks and the OpenAPI document.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/access/caller_limits.h"
#include "api/access/identity.h"
#include "api/http_types.h"
#include "api/telemetry/trace_context.h"
#include "base/json.h"
#include "schema/schema.h"

namespace cairn::api {

using PathValues = std::vector<std::pair<std::string_view, std::string>>;  // {id} → its value

struct QueryParameter {
  std::string_view name;
  std::string_view description;
};

// A request with its route.
struct Call {
  Request request;
  PathValues path;
  Json body;  // null if absent
  Reply reply;
  Identity identity = {};
  TraceContext trace = {};
  // Caller, route and Idempotency-Key combined, for operations that must happen once; empty without a key.
  std::string repeat_key = {};
  Demand demand = Demand::ordinary;
  AnswerLimits answer_limits = {};
  // The memory of the body of a long poll. An operation that works before it waits keeps this until the wait begins.
  std::shared_ptr<void> body_held = {};

  std::string_view at(std::string_view name) const;
};

struct Route {
  std::string_view method;
  std::string_view path;  // /v1/instances/{id}
  Permission permission = Permission::undeclared;
  std::string_view operation;  // startInstance
  std::string_view summary;
  std::function<void(Call call)> handle;
  std::vector<QueryParameter> query = {};
  std::string_view body_schema = {};                    // JSON Schema text; empty: no JSON body
  std::string_view content_types = "application/json";  // of the body, comma-separated; OpenAPI lists them
  // The operation handles `Idempotency-Key` itself, in the store.
  bool keeps_keys = false;
  // Identifies the sender by the request itself instead of a credential: not_found or not_allowed. It may block.
  std::function<Result<Identity>(const Request& request)> identify = {};
  // Whether the request can probably be handled without blocking. Absent: never.
  std::function<bool(const Request& request, const PathValues& path)> prompt = {};
  // It never blocks, so the connection's own thread always handles it.
  bool immediate = false;
  // Changes are written to the audit trail. Off for what only concerns the caller.
  bool is_audited = true;
};

// Stands between a request and its operation: credentials, permissions, repeats, the audit trail.
class Gate {
 public:
  virtual ~Gate() = default;
  // Each of these answers the call itself if it returns false. `admit` runs before the body is read.
  virtual bool admit(const Route& route, Call& call) = 0;
  virtual bool prepare(const Route& route, Call& call) = 0;
  // Passes the call to its operation.
  virtual void carry_out(const Route& route, Call call) { route.handle(std::move(call)); }
};

// What is known about an answered request.
struct RequestRecord {
  std::string_view operation = "none";
  std::string account;
  TraceContext trace;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
};

class Router {
 public:
  // ErrorCode::invalid if a route has no permission, an invalid schema or the same path as another.
  static Result<Router> make(std::vector<Route> routes);

  struct Match {
    const Route* route = nullptr;  // null: unknown path or method
    PathValues path = {};
    std::string allowed = {};  // the methods that the path supports
  };
  Match match(const Request& request) const;

  // Validates query names and body, then calls the operation; answers 404, 405 (with Allow), 415 and 422 itself.
  // Without a gate every caller may do everything: the CLI on its own store.
  void handle(Match match, Request request, Reply reply, Gate* gate = nullptr, RequestRecord* record = nullptr) const;
  void handle(Request request, Reply reply) const;

  const std::vector<Route>& routes() const;
  Json openapi() const;

 private:
  struct Table;
  std::shared_ptr<const Table> table_;  // shared by the copies that connections hold
};

}  // namespace cairn::api
