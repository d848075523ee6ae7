#include "server/idempotent_answers.h"

#include "base/log.h"

namespace cairn::server {
namespace {

constexpr const char* key_scope = "http";

Json stored(const Response& response) {
  Json headers = Json::array();
  for (const auto& [name, value] : response.headers) headers.push_back(Json::array({name, value}));
  return Json::object({{"status", response.status},
                       {"type", response.content_type},
                       {"headers", std::move(headers)},
                       {"body", response.body}});
}

Response restored(const Json& answer) {
  Response response;
  if (answer["status"].is_integer()) response.status = static_cast<int>(answer["status"].as_integer());
  response.content_type = std::string(answer.text_or("type", "application/json"));
  for (const Json& header : answer["headers"].items()) {
    if (header.is_array() && header.size() == 2 && header.items()[0].is_string() && header.items()[1].is_string()) {
      response.headers.emplace_back(header.items()[0].as_string(), header.items()[1].as_string());
    }
  }
  response.body = std::string(answer.text_or("body", ""));
  return response;
}

}  // namespace

Result<IdempotentAnswers::Known> IdempotentAnswers::begin(const std::string& scope, const std::string& request_hash) {
  {
    const std::scoped_lock lock(mutex_);
    if (!under_way_.insert(scope).second) return Known{Found::in_progress, {}};
  }
  auto known = coordinator_.store().find_key(key_scope, scope);
  if (known && !*known) return Known{Found::first, {}};
  forget(scope);
  if (!known) return known.error();
  if ((*known)->request_hash != request_hash) return Known{Found::other_request, {}};
  return Known{Found::repeat, restored((*known)->answer)};
}

void IdempotentAnswers::end(const std::string& scope, const std::string& request_hash, const Response* answer,
                            std::function<void()> kept) {
  if (answer == nullptr || answer->body.size() > body_bytes_max) {
    forget(scope);
    return kept();
  }
  coordinator_.keep_answer({key_scope, scope, request_hash, stored(*answer)},
                           [this, scope, kept = std::move(kept)](const Result<void>& done) {
                             if (!done) log_error("keys.not_kept", done.error());
                             forget(scope);
                             kept();
                           });
}

void IdempotentAnswers::forget(const std::string& scope) {
  const std::scoped_lock lock(mutex_);
  under_way_.erase(scope);
}

}  // namespace cairn::server
