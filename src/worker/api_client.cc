#include "worker/api_client.h"

namespace cairn::worker {

namespace {

HttpLimits limits() {
  HttpLimits limits;
  limits.response_bytes_max = 64u << 20;  // room for a whole batch of payloads
  return limits;
}

}  // namespace

ApiClient::ApiClient(std::string server, std::string token, std::string ca_file)
    : server_(std::move(server)),
      token_(std::move(token)),
      client_(EgressPolicy::everywhere(), limits(), HttpSurroundings{std::move(ca_file), {}}) {
  while (!server_.empty() && server_.back() == '/') server_.pop_back();
}

Result<ApiAnswer> ApiClient::post(const std::string& path, const Json& body, std::chrono::milliseconds timeout) {
  return post_text(path, write_json(body), timeout);
}

Result<ApiAnswer> ApiClient::post_text(const std::string& path, std::string body, std::chrono::milliseconds timeout) {
  HttpCall call;
  call.method = "POST";
  call.url = server_ + path;
  call.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  if (!token_.empty()) call.headers.emplace_back("Authorization", "Bearer " + token_);
  call.body = std::move(body);
  call.has_body = true;
  auto reply = client_.send_and_wait(call, Duration::of_ms(timeout.count()));
  if (!reply) {
    const bool too_large = reply.error().kind == HttpProblem::Kind::too_large;
    return Error{too_large ? ErrorCode::limit : ErrorCode::unavailable, server_ + ": " + reply.error().message};
  }
  ApiAnswer answer{reply->status, Json()};
  JsonLimits json_limits;
  json_limits.bytes_max = limits().response_bytes_max;
  if (auto document = parse_json(reply->body, json_limits)) answer.document = std::move(*document);
  return answer;
}

}  // namespace cairn::worker
