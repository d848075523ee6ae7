#include "api/problem.h"

#include "base/limit_refusals.h"
#include "base/utf8.h"

namespace cairn::api {
namespace {

// The store cannot be used now. Every such answer says when to try again.
constexpr std::string_view unavailable = "unavailable";

int status_of_limit(ErrorCode code, std::string_view limit) {
  if (code == ErrorCode::unavailable) return 503;
  // Kept signals are used or expire: the same request may succeed later.
  return limit == "limits.signals_per_key_max" || limit == "limits.signals_total_max" ? 429 : 413;
}

Json error_at(std::string_view pointer, std::string_view detail) {
  return Json::object({{"pointer", pointer}, {"detail", detail}});
}

// Where the input is wrong. Without places the message may begin with a pointer; else the whole body is meant.
Json errors_of(const Error& error) {
  Json errors = Json::array();
  for (const ErrorPlace& place : error.places) errors.push_back(error_at(place.pointer, place.message));
  if (!error.places.empty()) return errors;
  const std::string_view message = error.message;
  const std::size_t colon = message.find(": ");
  const bool has_pointer = message.starts_with('/') && colon != std::string_view::npos &&
                           message.substr(0, colon).find(' ') == std::string_view::npos;
  errors.push_back(has_pointer ? error_at(message.substr(0, colon), message.substr(colon + 2)) : error_at("", message));
  return errors;
}

}  // namespace

Response limit_problem(int status, std::string_view limit, std::int64_t value, std::string_view detail,
                       int retry_after_s, Json more) {
  count_limit_refusal(limit, value);
  Json members = more.is_object() ? std::move(more) : Json::object();
  members.set("limit", limit);
  members.set("limit_value", value);
  const char* const name = status == 429 ? "too_many_requests" : status == 503 ? "overloaded" : "limit";
  const char* const title = status == 429   ? "Too many requests"
                            : status == 503 ? "Too many requests are waiting"
                                            : "A limit was exceeded";
  Response response = problem(status, name, title, detail, std::move(members));
  if (status == 429 || status == 503) response.headers.emplace_back("retry-after", std::to_string(retry_after_s));
  return response;
}

Response problem(int status, std::string_view name, std::string_view title, std::string_view detail, Json more) {
  Json document = more.is_object() ? std::move(more) : Json::object();
  document.set("type", "/problems/" + std::string(name));
  document.set("title", title);
  document.set("status", status);
  document.set("detail", detail);
  Response response{status, "application/problem+json", {}, write_json(document)};
  if (status == 503 && name == unavailable) response.headers.emplace_back("retry-after", "1");
  return response;
}

Response problem(const Error& error) {
  // Two conflicts have their own status; the engine names them at the beginning of the message.
  if (error.message.starts_with("stale_version:")) {
    return problem(412, "stale_version", "The state version is outdated", error.message);
  }
  if (error.message.starts_with("idempotency_key_reused:")) {
    return problem(422, "idempotency_key_reused", "This key was used for another request", error.message);
  }
  if (const auto refusal = limit_of(error)) {
    return limit_problem(status_of_limit(error.code, refusal->limit), refusal->limit, refusal->value, error.message);
  }
  switch (error.code) {
    case ErrorCode::invalid:
      return problem(422, "invalid", "The request is invalid", error.message,
                     Json::object({{"errors", errors_of(error)}}));
    case ErrorCode::not_found: return problem(404, "not_found", "Not found", error.message);
    case ErrorCode::conflict: return problem(409, "conflict", "Conflict with another change", error.message);
    case ErrorCode::not_allowed: return problem(403, "not_allowed", "Not allowed", error.message);
    case ErrorCode::limit:
      count_limit_refusal("other", 0);
      return problem(413, "limit", "A limit was exceeded", error.message);
    case ErrorCode::unavailable: return problem(503, unavailable, "The store is unavailable", error.message);
    case ErrorCode::unsupported: return problem(501, "unsupported", "Not supported by this build", error.message);
    case ErrorCode::corrupt: return problem(500, "corrupt", "A stored row is corrupt", error.message);
    case ErrorCode::internal: break;
  }
  return problem(500, "internal", "Internal error", error.message);
}

Response problem(const std::vector<schema::Violation>& violations) {
  Json errors = Json::array();
  for (const schema::Violation& violation : violations) {
    errors.push_back(error_at(violation.pointer, violation.message));
  }
  const std::string detail = violations.empty() ? ""
                                                : (violations[0].pointer.empty() ? "the body" : violations[0].pointer) +
                                                      " " + violations[0].message;
  return problem(422, "invalid", "The request is invalid", detail, Json::object({{"errors", errors}}));
}

std::optional<Response> refuse_headers(const Request& request) {
  for (const auto& [name, value] : request.headers) {
    if (is_utf8(value)) continue;
    return problem(400, "header", "A header is not UTF-8", "the value of `" + name + "` is not valid UTF-8");
  }
  return std::nullopt;
}

}  // namespace cairn::api
