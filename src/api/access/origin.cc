#include "api/access/origin.h"

#include <algorithm>

#include "api/problem.h"

namespace cairn::api {
namespace {

// host:port → host, [::1]:80 → ::1.
std::string_view host_part(std::string_view host) {
  if (host.starts_with("[")) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

bool names_this_machine(std::string_view host) {
  const std::string_view name = host_part(host);
  const bool numeric = name.find_first_not_of("0123456789.") == std::string_view::npos;
  return name == "localhost" || name.ends_with(".localhost") || (numeric && name.starts_with("127.")) || name == "::1";
}

}  // namespace

bool allowed_by_cors(std::string_view origin, const std::vector<std::string>& origins) {
  return !origin.empty() && std::find(origins.begin(), origins.end(), origin) != origins.end();
}

void add_cors(Response& response, std::string_view origin) {
  response.headers.emplace_back("access-control-allow-origin", std::string(origin));
  response.headers.emplace_back("access-control-expose-headers", "etag, traceparent, retry-after");
  response.headers.emplace_back("vary", "origin");
}

Response preflight() {
  return {204,
          "text/plain",
          {{"access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE"},
           {"access-control-allow-headers",
            "authorization, content-type, idempotency-key, if-match, last-event-id, traceparent, x-cairn-reason"},
           {"access-control-max-age", "600"}},
          ""};
}

std::optional<Response> foreign(const Request& request, const std::vector<std::string>& origins, bool authenticates) {
  const std::string_view host = request.header("host");
  if (!authenticates && !names_this_machine(host)) {
    return problem(403, "foreign_host", "The host name is not this machine's",
                   "a server without authentication answers to localhost and 127.0.0.1 only");
  }
  const std::string_view origin = request.header("origin");
  if (origin.empty() || request.method == "GET" || request.method == "HEAD") return std::nullopt;
  const std::size_t scheme = origin.find("://");
  const bool same = scheme != std::string_view::npos && origin.substr(scheme + 3) == host;
  if (same || allowed_by_cors(origin, origins)) return std::nullopt;
  return problem(403, "foreign_origin", "Pages of other sites are not allowed",
                 "the request comes from a page of " + std::string(origin));
}

}  // namespace cairn::api
