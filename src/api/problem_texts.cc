#include "api/problem_texts.h"

#include <algorithm>
#include <iterator>

namespace cairn::api {
namespace {

// The same texts as in docs/errors.md, in the order of their names.
constexpr ProblemText problem_texts[] = {
    {"commit_stalled", 503, "`/livez` only: requests wait for the store, and nothing was written for 10 s",
     "restart the process"},
    {"conflict", 409, "another request was first, or the resource has ended", "read it again and decide again"},
    {"corrupt", 500, "a stored row is inconsistent", "`cairn verify`, `cairn doctor`"},
    {"csrf", 403, "a change in a session of the console lacks its token",
     "the header `X-Cairn-CSRF` with `csrf` of `GET /v1/session`"},
    {"definition_invalid", 422, "a definition does not compile; `errors` has line, column and severity",
     "`cairn validate` reports the same"},
    {"draining", 503, "`/readyz` only: the server is shutting down", "use another node"},
    {"filter", 400, "that parameter, or the header `If-Match`, cannot be read", "see the detail"},
    {"forbidden", 403,
     "the credential's roles do not allow this, a worker's prefixes do not, another credential holds the lease, or the "
     "run type is the engine's",
     "another credential"},
    {"foreign_host", 403, "a server without authentication was called by a name that is not this machine's",
     "call it as `localhost`"},
    {"foreign_origin", 403, "a page of another site made the request", "`cors.origins`, if that site may"},
    {"format", 400, "that parameter, or the header `If-Match`, cannot be read", "see the detail"},
    {"header", 400, "the value of a header is not UTF-8", "send UTF-8"},
    {"id", 400,
     "an id or key that the caller chose has invalid characters, or too many; or two different keys in one request",
     "1 to 200 letters, digits, `.`, `_`, `~`, `:`, `-`"},
    {"idempotency_key", 400,
     "an id or key that the caller chose has invalid characters, or too many; or two different keys in one request",
     "1 to 200 letters, digits, `.`, `_`, `~`, `:`, `-`"},
    {"idempotency_key_reused", 422, "the `Idempotency-Key` was used for another request",
     "use a new key for a new request"},
    {"internal", 500, "an unexpected failure", "the log has the request's trace"},
    {"invalid", 422, "the body does not match its schema, or cannot be carried out; `errors` says where", "correct it"},
    {"lease_lost", 409, "this worker no longer holds the run: its lease ended, or it was cancelled", "drop the work"},
    {"limit", 413,
     "a documented limit was exceeded; `limit` names it and `limit_value` is its value. `limit_signals` in the detail: "
     "the instance keeps as many signals as it may (1 000) and does not wait for this one",
     "make it smaller; for signals, let the workflow wait for them"},
    {"media_type", 415,
     "the body has a content type that the route does not take, an encoding other than UTF-8, or is compressed",
     "`Content-Type: application/json`; a definition may be `application/yaml`"},
    {"method", 405, "the resource does not take the method; `Allow` says which", "another method"},
    {"no_authentication", 409, "the server asks for no credential, so there is nothing to sign in to",
     "use it without signing in"},
    {"not_allowed", 403,
     "the person may not do this: no right to the task, excluded, not the assignee; or the new assignee could not "
     "complete it",
     "another person has to do it; `tasks.manage`"},
    {"not_found", 404, "unknown resource or route", "`/openapi.json` lists the routes"},
    {"not_json", 400, "the body is not JSON", "correct it"},
    {"overloaded", 503,
     "too much waits already: requests, commits, runs, leases or bulk actions; `limit` and `limit_value` as above; "
     "nothing was changed",
     "retry after `Retry-After`"},
    {"parameter", 400, "that parameter, or the header `If-Match`, cannot be read", "see the detail"},
    {"part", 400, "that parameter, or the header `If-Match`, cannot be read", "see the detail"},
    {"position", 400, "that parameter, or the header `If-Match`, cannot be read", "see the detail"},
    {"reason", 400, "that parameter, or the header `If-Match`, cannot be read", "see the detail"},
    {"stale_version", 412, "`If-Match` names a state version that is not the current one; `ETag` has the current one",
     "read it again"},
    {"state_version", 400, "that parameter, or the header `If-Match`, cannot be read", "see the detail"},
    {"status", 400, "that parameter, or the header `If-Match`, cannot be read", "see the detail"},
    {"time", 400, "that parameter, or the header `If-Match`, cannot be read", "see the detail"},
    {"too_many_requests", 429,
     "the credential sends too many requests or has too many open, or too many signals are kept; `limit` and "
     "`limit_value` as above",
     "retry after `Retry-After`"},
    {"unauthenticated", 401, "no valid API key or token", "`Authorization: Bearer …`; `cairn keys create`"},
    {"unavailable", 503,
     "the store cannot be reached or written now, or another transaction has locked the row; nothing was changed",
     "retry after `Retry-After`"},
    {"unknown_parameter", 400, "unknown query parameter", "`/openapi.json`"},
    {"unsupported", 501, "this store or this build cannot do that", ""},
};

}  // namespace

const ProblemText* find_problem_text(std::string_view name) {
  const auto* const found = std::lower_bound(std::begin(problem_texts), std::end(problem_texts), name,
                                             [](const ProblemText& text, std::string_view n) { return text.name < n; });
  return found == std::end(problem_texts) || found->name != name ? nullptr : found;
}

}  // namespace cairn::api
