#include "api/if_match.h"

#include <charconv>

#include "api/problem.h"

namespace cairn::api {

std::optional<Response> refuse_precondition(const Route& route, const Request& request) {
  const bool about_one = route.path.starts_with("/v1/instances/{id}") || route.path.starts_with("/v1/tasks/{id}") ||
                         (route.method == "PATCH" && route.path.starts_with("/v1/schedules/{name}"));
  if (about_one || route.method == "GET" || request.header("if-match").empty()) return std::nullopt;
  return problem(
      400, "state_version", "If-Match cannot be used here",
      "If-Match names the state version of one instance, task or schedule, and this request is not about one");
}

Result<std::optional<std::uint64_t>> state_version_of(const Call& call) {
  std::string_view text = call.request.header("if-match");
  if (text.empty()) return std::optional<std::uint64_t>();
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::uint64_t state_version = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), state_version);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return Error{ErrorCode::invalid, "If-Match must be a state version, for example \"7\""};
  }
  return std::optional<std::uint64_t>(state_version);
}

}  // namespace cairn::api
