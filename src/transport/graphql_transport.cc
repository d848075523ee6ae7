#include "transport/graphql_transport.h"

namespace cairn {
namespace {

constexpr std::size_t message_bytes_max = 500;

// Keeps as many of the server's errors as fit. The message of the first error is always kept.
Json bounded(const Json& errors) {
  Json kept = Json::array();
  std::size_t size = 0;
  for (const Json& error : errors.items()) {
    size += write_json(error).size() + 1;
    if (size > error_excerpt_bytes_max) break;
    kept.push_back(error);
  }
  if (kept.size() == 0) {
    const std::string message = excerpt(errors.items().front().text_or("message", ""), message_bytes_max);
    kept.push_back(Json::object({{"message", message}}));
  }
  return kept;
}

}  // namespace

const std::string& GraphqlTransport::name() const {
  static const std::string name = "graphql";
  return name;
}

void GraphqlTransport::send(TransportCall call, Done done) {
  const Json& asked = call.request;
  Json body = Json::object({{"query", asked["query"]}, {"variables", asked["variables"]}});
  if (asked["operation"].is_string()) body.set("operationName", asked["operation"]);
  call.request =
      Json::object({{"method", "POST"}, {"url", asked["url"]}, {"headers", asked["headers"]}, {"body", body}});
  http_.send(std::move(call), [done = std::move(done)](TransportAnswer answer) {
    if (answer.failure) return done(std::move(answer));
    const Json& errors = answer.result["errors"];
    if (errors.is_array() && errors.size() > 0) {
      const std::string first =
          excerpt(errors.items().front().text_or("message", "the server reported an error"), message_bytes_max);
      answer.failure = Failure{
          FailureClass::business, "graphql_error", first, Json::object({{"errors", bounded(errors)}}), 1, "", ""};
      answer.result = Json();
      answer.retry = false;
    } else if (answer.result.is_object() && answer.result.find("data") != nullptr) {
      answer.result = Json(answer.result["data"]);
    } else {
      answer.failure =
          Failure{FailureClass::transport, "invalid_response", "the response has no `data`", Json(), 1, "", ""};
      answer.result = Json();
      answer.retry = false;
    }
    done(std::move(answer));
  });
}

}  // namespace cairn
