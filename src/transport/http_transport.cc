#include "transport/http_transport.h"

#include <ctime>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/utf8.h"

namespace cairn {

namespace {

constexpr std::size_t content_type_bytes_max = 128;

std::string_view header(const HttpReply& reply, std::string_view name) {
  for (const auto& [key, value] : reply.headers) {
    if (key == name) return value;
  }
  return {};
}

// Reads seconds or an HTTP date.
std::optional<Duration> retry_after(const HttpReply& reply) {
  const std::string text(header(reply, "retry-after"));
  if (text.empty()) return std::nullopt;
  std::int64_t seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  constexpr std::int64_t seconds_max = 86'400;
  if (read.ec == std::errc() && read.ptr == text.data() + text.size()) {
    return Duration::of_seconds(std::clamp<std::int64_t>(seconds, 0, seconds_max));
  }
  std::tm when{};
  if (strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &when) == nullptr) return std::nullopt;
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return Duration::of_seconds(std::clamp<std::int64_t>(timegm(&when) - now, 0, seconds_max));
}

Failure failure_of(FailureClass failure_class, std::string code, std::string message, Json details = Json()) {
  return {failure_class, std::move(code), std::move(message), std::move(details), 1, "", ""};
}

Failure failure_of(const HttpProblem& problem) {
  switch (problem.kind) {
    case HttpProblem::Kind::denied: return failure_of(FailureClass::authorization, "egress_denied", problem.message);
    case HttpProblem::Kind::invalid: return failure_of(FailureClass::definition, "invalid_request", problem.message);
    case HttpProblem::Kind::timeout: return failure_of(FailureClass::timeout, "call_timeout", problem.message);
    case HttpProblem::Kind::too_large:
      return failure_of(FailureClass::transport, "response_too_large", problem.message);
    case HttpProblem::Kind::protocol: return failure_of(FailureClass::transport, "invalid_response", problem.message);
    case HttpProblem::Kind::connect:
    case HttpProblem::Kind::broken:
    case HttpProblem::Kind::overloaded: break;
  }
  return failure_of(FailureClass::transport, "connect_failed", problem.message);
}

// Whether every store and every reader of JSON accepts the text.
bool is_storable(std::string_view text) { return is_utf8(text) && text.find('\0') == std::string_view::npos; }

// JSON if the body is JSON, else text; null for an empty body.
std::optional<Json> decoded(const std::string& body) {
  if (body.empty()) return Json();
  if (auto json = parse_json(body)) return std::move(*json);
  if (!is_storable(body)) return std::nullopt;
  return Json(body);
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t bytes_max) {
  text = text.substr(0, bytes_max);
  for (int cut = 0; cut < 4 && !is_utf8(text) && !text.empty(); ++cut) text.remove_suffix(1);
  return is_storable(text) ? std::string(text) : std::string();
}

TransportAnswer refused(const Error& error) {
  TransportAnswer answer;
  const bool denied = error.code == ErrorCode::not_allowed;
  answer.failure = failure_of(denied ? FailureClass::authorization : FailureClass::definition,
                              denied ? "egress_denied" : "invalid_request", error.message);
  answer.retry = false;
  return answer;
}

TransportAnswer answer_of(Result<HttpReply, HttpProblem> outcome, const HttpCall& call, const Unsealing& unsealing) {
  TransportAnswer answer;
  if (!outcome) {
    answer.failure = failure_of(outcome.error());
    answer.failure->message = unsealing.mask(answer.failure->message);
    // Repeating the request would give a response of the same size.
    answer.retry = outcome.error().kind != HttpProblem::Kind::too_large;
    return answer;
  }
  HttpReply& reply = *outcome;
  if (reply.status >= 400 && !call.accepted.contains(reply.status)) {
    const std::string type =
        excerpt(unsealing.mask(std::string(header(reply, "content-type"))), content_type_bytes_max);
    const std::string body = excerpt(unsealing.mask(std::move(reply.body)), error_excerpt_bytes_max - type.size());
    answer.failure = failure_of(FailureClass::transport, "http_" + std::to_string(reply.status),
                                "the response has the status " + std::to_string(reply.status),
                                Json::object({{"status", reply.status}, {"content_type", type}, {"body", body}}));
    answer.retry_after = retry_after(reply);
    return answer;
  }
  auto body = decoded(reply.body);
  if (!body) {
    answer.failure = failure_of(FailureClass::transport, "invalid_response", "the body is neither JSON nor text");
    answer.retry = false;
    return answer;
  }
  answer.result = unsealing.mask(*body);
  if (call.full_response) {
    Json headers = Json::object();
    for (const auto& [name, value] : reply.headers) {
      if (is_storable(value) && is_storable(name)) headers.set(name, unsealing.mask(value));
    }
    answer.result = Json::object({{"status", reply.status}, {"headers", headers}, {"body", answer.result}});
  }
  return answer;
}

const std::string& HttpTransport::name() const {
  static const std::string name = "http";
  return name;
}

void HttpTransport::send(TransportCall call, Done done) {
  auto unsealing = std::make_shared<Unsealing>(secrets_, call.instance.has_value());
  auto http = read_http_call(call.request, call, *unsealing);
  if (!http) return done(refused(http.error()));
  const auto kept = std::make_shared<HttpCall>(std::move(*http));
  client_.send(
      *kept, call.timeout, [unsealing](std::string_view host) { return unsealing->check_host(host); },
      [kept, unsealing, done = std::move(done)](Result<HttpReply, HttpProblem> outcome) {
        done(answer_of(std::move(outcome), *kept, *unsealing));
      });
}

}  // namespace cairn
