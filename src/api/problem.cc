#include "api/problem.h"

#include "base/limit_refusals.h"

namespace cairn::api {
namespace {

// Limits on waiting work clear by themselves: the same request may succeed later.
int status_of_limit(std::string_view limit) {
  if (limit == "commit_queue" || limit == "run_intake") return 503;
  return limit == "lease_waiters" || limit.starts_with("limits.signals_") ? 429 : 413;
}

}  // namespace

Response limit_problem(int status, std::string_view limit, std::int64_t value, std::string_view detail,
                       int retry_after_s) {
  count_limit_refusal(limit, value);
  const bool later = status == 429 || status == 503;
  Response response =
      problem(status, later ? "too_many_requests" : "limit", later ? "Too many requests" : "A limit was exceeded",
              detail, Json::object({{"limit", limit}, {"limit_value", value}}));
  if (later) response.headers.emplace_back("retry-after", std::to_string(retry_after_s));
  return response;
}

Response problem(int status, std::string_view name, std::string_view title, std::string_view detail, Json more) {
  Json document = more.is_object() ? std::move(more) : Json::object();
  document.set("type", "/problems/" + std::string(name));
  document.set("title", title);
  document.set("status", status);
  document.set("detail", detail);
  return {status, "application/problem+json", {}, write_json(document)};
}

Response problem(const Error& error) {
  // Two conflicts have their own status; the engine names them at the beginning of the message.
  if (error.message.starts_with("stale_version:")) {
    return problem(412, "stale_version", "The state version is outdated", error.message);
  }
  if (error.message.starts_with("idempotency_key_reused:")) {
    return problem(422, "idempotency_key_reused", "This key was used for another request", error.message);
  }
  switch (error.code) {
    case ErrorCode::invalid: return problem(422, "invalid", "The request is invalid", error.message);
    case ErrorCode::not_found: return problem(404, "not_found", "Not found", error.message);
    case ErrorCode::conflict: return problem(409, "conflict", "Conflict with another change", error.message);
    case ErrorCode::not_allowed: return problem(403, "not_allowed", "Not allowed", error.message);
    case ErrorCode::limit:
      if (const auto refusal = limit_of(error)) {
        return limit_problem(status_of_limit(refusal->limit), refusal->limit, refusal->value, error.message);
      }
      count_limit_refusal("other", 0);
      return problem(413, "limit", "A limit was exceeded", error.message);
    case ErrorCode::unavailable: return problem(503, "unavailable", "The store is unavailable", error.message);
    case ErrorCode::unsupported: return problem(501, "unsupported", "Not supported by this build", error.message);
    case ErrorCode::corrupt: return problem(500, "corrupt", "A stored row is corrupt", error.message);
    case ErrorCode::internal: break;
  }
  return problem(500, "internal", "Internal error", error.message);
}

Response problem(const std::vector<schema::Violation>& violations) {
  Json errors = Json::array();
  for (const schema::Violation& violation : violations) {
    errors.push_back(Json::object({{"pointer", violation.pointer}, {"detail", violation.message}}));
  }
  const std::string detail = violations.empty() ? ""
                                                : (violations[0].pointer.empty() ? "the body" : violations[0].pointer) +
                                                      " " + violations[0].message;
  return problem(422, "invalid", "The request is invalid", detail, Json::object({{"errors", errors}}));
}

}  // namespace cairn::api
