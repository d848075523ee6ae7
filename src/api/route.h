// One table of routes makes the router, the permission check and the OpenAPI document.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "schema/schema.h"
#include "api/access/caller_limits.h"
#include "http/server.h"
#include "api/access/identity.h"
#include "api/telemetry/trace_context.h"

namespace cairn::server {

using PathValues = std::vector<std::pair<std::string_view, std::string>>;  // {id} → its value

struct QueryParameter {
  std::string_view name;
  std::string_view description;
};

// A request that found its route.
struct Call {
  Request request;
  PathValues path;
  Json body;  // null without one
  Reply reply;
  Identity identity = {};
  TraceContext trace = {};
  // Who, where and the Idempotency-Key as one name, for what is to be done only once under it; empty without a key.
  std::string repeat_key = {};
  Demand demand = Demand::ordinary;
  AnswerLimits answer_limits = {};

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
  std::string_view body_schema = {};                    // JSON Schema text; empty: takes no JSON body
  std::string_view content_types = "application/json";  // of a body, with commas; the document names them
  // The operation looks after `Idempotency-Key` itself, in the store.
  bool keeps_keys = false;
  // Who sends, told by the request itself instead of a credential: not_found, or not_allowed. It may block.
  std::function<Result<Identity>(const Request& request)> identify = {};
  // Whether it can be carried out without waiting for anything, as far as that can be told before. Absent: never.
  std::function<bool(const Request& request, const PathValues& path)> prompt = {};
  // It never waits for anything, so the connection's own thread carries it out, whatever else goes on.
  bool immediate = false;
};

// What stands between a request and its operation: credentials, permissions, repeats, the audit trail.
class Gate {
 public:
  virtual ~Gate() = default;
  // Each answers the call itself when it says false. `admit` comes before the body is looked at.
  virtual bool admit(const Route& route, Call& call) = 0;
  virtual bool prepare(const Route& route, Call& call) = 0;
  // Hands the call to its operation.
  virtual void carry_out(const Route& route, Call call) { route.handle(std::move(call)); }
};

// What is known about a request once it is answered.
struct RequestRecord {
  std::string_view operation = "none";
  std::string account;
  TraceContext trace;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
};

class Router {
 public:
  // ErrorCode::invalid when a route has no permission, a bad schema, or the same place as another.
  static Result<Router> make(std::vector<Route> routes);

  struct Match {
    const Route* route = nullptr;  // null: no such resource, or not with that method
    PathValues path = {};
    std::string allowed = {};  // the methods that the resource has instead
  };
  Match match(const Request& request) const;

  // Checks query names and body, and hands over; answers 404, 405 (with Allow), 415, 422 itself.
  // Without a gate everybody may do everything: the command line on its own store.
  void handle(Match match, Request request, Reply reply, Gate* gate = nullptr, RequestRecord* record = nullptr) const;
  void handle(Request request, Reply reply) const;

  const std::vector<Route>& routes() const;
  Json openapi() const;

 private:
  struct Table;
  std::shared_ptr<const Table> table_;  // shared by the copies that connections hold
};

}  // namespace cairn::server
