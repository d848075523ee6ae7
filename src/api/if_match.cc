#include "api/if_match.h"

#include <algorithm>
#include <charconv>

#include "api/problem.h"

namespace cairn::api {
namespace {

// "7" or 7.
std::optional<std::uint64_t> read_state_version(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  std::uint64_t state_version = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), state_version);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return state_version;
}

constexpr const char* malformed = "If-Match must be a state version, for example \"7\"";

}  // namespace

std::optional<Response> refuse_precondition(const Route& route, const Request& request) {
  // A draft or a link changes nothing of its task.
  const bool beside = route.path.ends_with("/draft") || route.path.ends_with("/link");
  const bool about_one = route.path.starts_with("/v1/instances/{id}") ||
                         (route.path.starts_with("/v1/tasks/{id}") && !beside) ||
                         (route.method == "PATCH" && route.path.starts_with("/v1/schedules/{name}"));
  const auto is_given = [](const auto& header) { return header.first == "if-match"; };
  const auto count = std::count_if(request.headers.begin(), request.headers.end(), is_given);
  if (route.method == "GET" || count == 0) return std::nullopt;
  // An empty header and a second one are conditions too: to ignore them would make the change unconditional.
  if (about_one && count == 1 && read_state_version(request.header("if-match"))) return std::nullopt;
  if (about_one) return problem(400, "state_version", "If-Match cannot be read", malformed);
  return problem(
      400, "state_version", "If-Match cannot be used here",
      "If-Match names the state version of one instance, task or schedule, and this request is not about one");
}

Result<std::optional<std::uint64_t>> state_version_of(const Call& call) {
  const std::string_view text = call.request.header("if-match");
  if (text.empty()) return std::optional<std::uint64_t>();
  const auto state_version = read_state_version(text);
  if (!state_version) return Error{ErrorCode::invalid, malformed};
  return state_version;
}

}  // namespace cairn::api
