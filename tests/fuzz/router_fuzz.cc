// Any path and method: the router finds the route that a plain comparison of the segments finds, and never passes an
// empty value on.
#include "api/route.h"
#include "input.h"

namespace {

using namespace cairn::api;

constexpr std::string_view paths[] = {"/v1/a", "/v1/a/{id}", "/v1/a/{id}/b", "/v1/a/{id}/b/{name}", "/"};

const Router& router() {
  static const Router made = [] {
    std::vector<Route> routes;
    for (const std::string_view path : paths) {
      Route route;
      route.method = "GET";
      route.path = path;
      route.permission = Permission::view;
      route.operation = path;
      routes.push_back(route);
    }
    auto built = Router::make(std::move(routes));
    CAIRN_ASSERT(built.has_value());
    return std::move(*built);
  }();
  return made;
}

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> parts(1);
  for (const char c : path.substr(1)) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

void fuzz(std::string_view input) {
  Request request;
  request.method = std::string(cairn::fuzzing::take_line(input));
  if (!cairn::http::decode_path("/" + std::string(input), request.path)) return;
  const Router::Match match = router().match(request);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const auto given = segments(request.path);
  const std::string_view* found = nullptr;
  for (const std::string_view& path : paths) {
    const auto wanted = segments(path);
    bool same = wanted.size() == given.size();
    for (std::size_t i = 0; same && i < wanted.size(); ++i) {
      same = wanted[i].starts_with('{') ? !given[i].empty() : wanted[i] == given[i];
    }
    if (same) found = &path;
  }
  CAIRN_ASSERT((match.route != nullptr) == (reads && found != nullptr));
  if (match.route) CAIRN_ASSERT(match.route->path == *found);
  for (const auto& [name, value] : match.path) CAIRN_ASSERT(!name.empty() && !value.empty());
  CAIRN_ASSERT(match.allowed == (found != nullptr && !reads ? "GET" : ""));
}
