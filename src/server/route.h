// One table of routes makes the router, the permission check and the OpenAPI document.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "schema/schema.h"
#include "server/http_server.h"

namespace cairn::server {

// Who may call a route. `undeclared` is what a forgotten declaration is, and does not start.
enum class Permission { undeclared, open, view, start, work_tasks, work_runs, operate, deploy, administer };
const char* to_string(Permission permission);

struct QueryParameter {
  std::string_view name;
  std::string_view description;
};

// A request that found its route.
struct Call {
  Request request;
  std::vector<std::pair<std::string_view, std::string>> path;  // {id} → its value
  Json body;                                                   // null without one
  Reply reply;

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
  std::string_view body_schema = {};  // JSON Schema text; empty: takes no JSON body
  std::string_view content_types = "application/json";
};

class Router {
 public:
  // ErrorCode::invalid when a route has no permission, a bad schema, or the same place as another.
  static Result<Router> make(std::vector<Route> routes);

  // Finds the route, checks query names and body, and hands over; answers 404, 405 (with Allow), 415, 422 itself.
  void handle(Request request, Reply reply) const;

  const std::vector<Route>& routes() const;
  Json openapi() const;

 private:
  struct Table;
  std::shared_ptr<const Table> table_;  // shared by the copies that connections hold
};

}  // namespace cairn::server
