#include "server/route.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/version.h"
#include "server/problem.h"

namespace cairn::server {
namespace {

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = path.find('/');
    segments.push_back(path.substr(0, end));
    path = end == std::string_view::npos ? std::string_view() : path.substr(end);
  }
  return segments;
}

bool is_parameter(std::string_view segment) { return segment.size() > 2 && segment.front() == '{'; }
std::string_view parameter_name(std::string_view segment) { return segment.substr(1, segment.size() - 2); }

bool fits(const std::vector<std::string_view>& pattern, const std::vector<std::string>& path) {
  return std::equal(pattern.begin(), pattern.end(), path.begin(), path.end(),
                    [](std::string_view a, std::string_view b) { return is_parameter(a) ? !b.empty() : a == b; });
}

// "text/plain; charset=utf-8" is text/plain.
std::string media_type(std::string_view header) {
  std::string type(header.substr(0, header.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}

}  // namespace

std::string_view Call::at(std::string_view name) const {
  for (const auto& [key, value] : path) {
    if (key == name) return value;
  }
  return {};
}

struct Router::Table {
  struct Entry {
    std::vector<std::string_view> segments;
    std::optional<schema::Schema> body;
  };
  std::vector<Route> routes;
  std::vector<Entry> entries;
};

Result<Router> Router::make(std::vector<Route> routes) {
  auto table = std::make_shared<Table>();
  table->routes = std::move(routes);
  std::set<std::string> places;
  std::set<std::string_view> operations;
  for (const Route& route : table->routes) {
    const std::string place = std::string(route.method) + " " + std::string(route.path);
    if (route.permission == Permission::undeclared)
      return Error{ErrorCode::invalid, "route " + place + " declares no permission"};
    if (!places.insert(place).second || !operations.insert(route.operation).second) {
      return Error{ErrorCode::invalid, "route " + place + " stands twice"};
    }
    Table::Entry entry{segments_of(route.path), std::nullopt};
    if (!route.body_schema.empty()) {
      CAIRN_TRY(const Json document, parse_json(route.body_schema));
      auto compiled = schema::Schema::compile(document);
      if (!compiled) return Error{ErrorCode::invalid, "route " + place + ": " + compiled.error()[0].message};
      entry.body = std::move(*compiled);
    }
    table->entries.push_back(std::move(entry));
  }
  Router router;
  router.table_ = std::move(table);
  return router;
}

const std::vector<Route>& Router::routes() const { return table_->routes; }

void Router::handle(Request request, Reply reply, Gate* gate, RequestRecord* record) const {
  std::vector<std::string> segments;  // copies: the request moves into the call
  for (const std::string_view segment : segments_of(request.path)) segments.emplace_back(segment);
  const bool head = request.method == "HEAD";
  std::string allowed;
  for (std::size_t i = 0; i < table_->routes.size(); ++i) {
    const Route& route = table_->routes[i];
    const Table::Entry& entry = table_->entries[i];
    if (!fits(entry.segments, segments)) continue;
    if (route.method != request.method && !(head && route.method == "GET")) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    Call call{std::move(request), {}, {}, reply};
    call.identity.roles = {Role::admin};
    if (const std::string_view user = call.request.header("x-cairn-user"); gate == nullptr && !user.empty()) {
      call.identity.person = call.identity.account = std::string(user);
    }
    if (record != nullptr) {
      record->operation = route.operation;
      call.trace = record->trace;
    }
    if (gate != nullptr) {
      if (!gate->admit(route, call)) return;
      if (record != nullptr) record->account = call.identity.account;
    }
    for (const auto& given : call.request.query) {
      const std::string& name = given.first;
      if (std::none_of(route.query.begin(), route.query.end(),
                       [&](const QueryParameter& known) { return known.name == name; })) {
        reply(problem(
            400, "unknown_parameter", "There is no such query parameter",
            "`" + name + "` is not a parameter of " + std::string(route.method) + " " + std::string(route.path)));
        return;
      }
    }
    for (std::size_t s = 0; s < segments.size(); ++s) {
      if (is_parameter(entry.segments[s])) call.path.emplace_back(parameter_name(entry.segments[s]), segments[s]);
    }
    if (entry.body) {
      const std::string& text = call.request.body;
      const std::string type = media_type(call.request.header("content-type"));
      // A body without a type is refused too: a foreign page can make a browser send one.
      if (!text.empty() && type != "application/json") {
        reply(problem(415, "media_type", "This media type is not understood here",
                      "send application/json, not " + (type.empty() ? "a body without a type" : type)));
        return;
      }
      auto body = parse_json(text.empty() ? std::string_view("{}") : std::string_view(text));
      if (!body) {
        reply(problem(400, "not_json", "The body is not JSON", body.error().message));
        return;
      }
      if (const auto violations = entry.body->check(*body); !violations.empty()) {
        reply(problem(violations));
        return;
      }
      call.body = std::move(*body);
    }
    if (gate == nullptr) {
      route.handle(std::move(call));
    } else if (gate->prepare(route, call)) {
      gate->carry_out(route, std::move(call));
    }
    return;
  }
  if (!allowed.empty()) {
    Response response = problem(405, "method", "This resource does not take that method", "it takes " + allowed);
    response.headers.emplace_back("allow", allowed);
    reply(std::move(response));
    return;
  }
  reply(problem(404, "not_found", "There is no such resource",
                "`" + request.path + "` is nothing here; /openapi.json lists what is"));
}

}  // namespace cairn::server
