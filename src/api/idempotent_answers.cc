#include "api/idempotent_answers.h"

#include <algorithm>

#include "api/api.h"
#include "base/log.h"
#include "expr/base64.h"
#include "http/gzip.h"

namespace cairn::api {
namespace {

constexpr const char* answer_key_scope = "http";

// The answer is about a resource that was removed, and its id belongs to another one now.
bool is_about_predecessor(const Json& answer, const std::string& created) {
  const std::string_view before = answer.text_or("created", "");
  return !before.empty() && !created.empty() && before != created;
}

// Small bodies are stored as they are, so that operators can read them.
constexpr std::size_t plain_bytes_max = 16u << 10;

// The response as a row of the store. Empty if it is too large to be kept.
std::optional<Json> stored(const Response& response, const std::string& created) {
  const bool packed = response.body.size() > plain_bytes_max;
  Json body = packed ? Json(expr::base64_encode(http::gzip(response.body))) : Json(response.body);
  if (packed && body.as_string().empty()) return std::nullopt;
  if (body.as_string().size() > IdempotentAnswers::stored_bytes_max) return std::nullopt;
  Json headers = Json::array();
  for (const auto& [name, value] : response.headers) {
    if (name != replayed_header) headers.push_back(Json::array({name, value}));
  }
  return Json::object({{"status", response.status},
                       {"type", response.content_type},
                       {"headers", std::move(headers)},
                       {"created", created},
                       {packed ? "body_gzip" : "body", std::move(body)}});
}

Result<Response> restored(const Json& answer) {
  Response response;
  if (answer["status"].is_integer()) response.status = static_cast<int>(answer["status"].as_integer());
  response.content_type = std::string(answer.text_or("type", "application/json"));
  for (const Json& header : answer["headers"].items()) {
    if (header.is_array() && header.size() == 2 && header.items()[0].is_string() && header.items()[1].is_string()) {
      response.headers.emplace_back(header.items()[0].as_string(), header.items()[1].as_string());
    }
  }
  response.body = std::string(answer.text_or("body", ""));
  if (const std::string_view packed = answer.text_or("body_gzip", ""); !packed.empty()) {
    const auto bytes = expr::base64_decode(packed);
    auto body = bytes ? http::gunzip(*bytes, IdempotentAnswers::body_bytes_max) : std::nullopt;
    if (!body) return Error{ErrorCode::corrupt, "the kept answer to this Idempotency-Key cannot be unpacked"};
    response.body = std::move(*body);
  }
  response.headers.emplace_back(replayed_header, "true");
  return response;
}

bool is_refusal(const Response& response) { return response.status >= 400; }

// A repeat of the request retries what failed in a partial answer. Streams have no end, and leases go back when their
// answer does not arrive.
bool can_be_kept(const Response& response) {
  return !is_refusal(response) && !response.partial && !response.stream && !response.receipt &&
         response.body.size() <= IdempotentAnswers::body_bytes_max;
}

// The answer for a repeat that waited for it.
Response copied(const Response& response) {
  Response copy(response.status, response.content_type, response.headers, response.body);
  copy.standing_headers = response.standing_headers;
  const bool marked = std::any_of(copy.headers.begin(), copy.headers.end(),
                                  [](const auto& header) { return header.first == replayed_header; });
  if (!marked && !is_refusal(response)) copy.headers.emplace_back(replayed_header, "true");
  return copy;
}

}  // namespace

Result<IdempotentAnswers::Known> IdempotentAnswers::begin(const std::string& scope, const std::string& request_hash,
                                                          Done<Result<Known>> later, const std::string& created) {
  {
    const std::scoped_lock lock(mutex_);
    const auto [place, first] = pending_.try_emplace(scope, PendingRequest{request_hash, {}, created, scope});
    if (!first) {
      if (place->second.request_hash != request_hash) return Known{Found::other_request, {}};
      place->second.waiting.push_back(std::move(later));
      return Known{Found::in_progress, {}};
    }
  }
  auto kept = core_.store().find_key(answer_key_scope, scope);
  if (kept && *kept && is_about_predecessor((*kept)->answer, created)) {
    const std::string key = scope + " " + created;
    kept = core_.store().find_key(answer_key_scope, key);
    const std::scoped_lock lock(mutex_);
    pending_.at(scope).key = key;
  }
  if (kept && !*kept) return Known{Found::first, {}};
  Result<Known> known = Known{Found::other_request, {}};
  if (!kept) {
    known = kept.error();
  } else if ((*kept)->request_hash == request_hash) {
    auto answer = restored((*kept)->answer);
    known = answer ? Result<Known>(Known{Found::repeat, std::move(*answer)}) : answer.error();
  }
  conclude(scope, known);
  return known;
}

void IdempotentAnswers::end(const std::string& scope, const std::string& request_hash, Response answer,
                            std::function<void(Response)> send) {
  const bool keep = can_be_kept(answer);
  const auto shared = std::make_shared<Response>(std::move(answer));  // a callback must be copyable
  const auto finish = [this, scope, shared, send = std::move(send)] {
    conclude(scope, Known{Found::repeat, copied(*shared)});
    send(std::move(*shared));
  };
  if (!keep) return finish();
  std::string key, created;
  {
    const std::scoped_lock lock(mutex_);
    const PendingRequest& request = pending_.at(scope);
    key = request.key;
    created = request.created;
  }
  auto row = stored(*shared, created);
  if (!row) return finish();
  Unit unit;
  unit.key = IdempotencyKey{answer_key_scope, std::move(key), request_hash, std::move(*row)};
  unit.actor = core_.node();
  core_.deliveries().queue().submit(std::move(unit), [finish](const Result<CommitOutcome>& written, const Unit&) {
    // A repeat on another node may have been quicker: then its answer stands.
    if (!written) log_error("keys.not_kept", written.error());
    if (written && written->kind == CommitOutcome::Kind::failed) log_error("keys.not_kept", written->error);
    finish();
  });
}

void IdempotentAnswers::conclude(const std::string& scope, const Result<Known>& outcome) {
  std::vector<Done<Result<Known>>> waiting;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = pending_.find(scope);
    if (found == pending_.end()) return;
    waiting = std::move(found->second.waiting);
    pending_.erase(found);
  }
  for (const Done<Result<Known>>& later : waiting) later(outcome);
}

}  // namespace cairn::api
