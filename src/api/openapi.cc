// The OpenAPI document, from the table of routes.

#include "api/answer_schemas.h"
#include "api/route.h"
#include "base/ascii.h"
#include "base/version.h"
#include "outbox/signature.h"

namespace cairn::api {
namespace {

Json parameters_of(const Route& route) {
  Json parameters = Json::array();
  for (std::size_t at = route.path.find('{'); at != std::string_view::npos; at = route.path.find('{', at + 1)) {
    parameters.push_back(Json::object({{"name", route.path.substr(at + 1, route.path.find('}', at) - at - 1)},
                                       {"in", "path"},
                                       {"required", true},
                                       {"schema", Json::object({{"type", "string"}})}}));
  }
  for (const QueryParameter& parameter : route.query) {
    parameters.push_back(Json::object({{"name", parameter.name},
                                       {"in", "query"},
                                       {"description", parameter.description},
                                       {"schema", Json::object({{"type", "string"}})}}));
  }
  return parameters;
}

// Null if the operation takes no body. Bodies that are not plain JSON are checked by the operation itself.
Json body_of(const Route& route) {
  Json content = Json::object();
  if (!route.body_schema.empty()) {
    const Json schema = parse_json(route.body_schema).value_or(Json::object());
    content.set("application/json", Json::object({{"schema", schema}}));
  } else if (route.content_types.find(',') != std::string_view::npos) {
    std::string_view rest = route.content_types;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view type = rest.substr(0, comma);
      const bool yaml = type.ends_with("yaml");
      content.set(std::string(type),
                  Json::object({{"schema", yaml ? Json::object({{"type", "string"}}) : Json::object()}}));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 2);
    }
  } else {
    return {};
  }
  return Json::object({{"content", content}});
}

Json schema_content(std::string_view media_type, std::string_view schema) {
  const Json reference = Json::object({{"$ref", "#/components/schemas/" + std::string(schema)}});
  return Json::object({{media_type, Json::object({{"schema", reference}})}});
}

Json responses_of(const Route& route) {
  Json done = Json::object({{"description", "done"}});
  const AnswerSchema* const answer = answer_of(route.operation);
  if (answer != nullptr && !answer->schema.empty()) {
    done.set("content", schema_content("application/json", answer->schema));
  }
  const Json refused = Json::object(
      {{"description", "what went wrong"}, {"content", schema_content("application/problem+json", "Problem")}});
  return Json::object({{answer == nullptr ? "200" : answer->status, done}, {"default", refused}});
}

}  // namespace

Json Router::openapi() const {
  Json paths = Json::object();
  for (const Route& route : routes()) {
    Json operation = Json::object(
        {{"operationId", route.operation}, {"summary", route.summary}, {"x-permission", to_string(route.permission)}});
    if (const Json parameters = parameters_of(route); parameters.size() > 0) operation.set("parameters", parameters);
    // The body of finishLogin identifies the caller.
    const bool by_body = route.operation == "finishLogin";
    if (route.permission == Permission::open || by_body) operation.set("security", Json::array());
    if (route.permission == Permission::signed_request && !by_body) {
      operation.set("security",
                    Json::array({Json::object({{"signature", Json::array()}, {"timestamp", Json::array()}})}));
    }
    if (const Json body = body_of(route); !body.is_null()) operation.set("requestBody", body);
    operation.set("responses", responses_of(route));
    paths.edit(route.path).set(ascii_lower(route.method), operation);
  }
  const Json bearer = Json::object({{"type", "http"}, {"scheme", "bearer"}, {"description", "an API key or a token"}});
  const auto header = [](const char* name, const char* description) {
    return Json::object({{"type", "apiKey"}, {"in", "header"}, {"name", name}, {"description", description}});
  };
  const Json schemes = Json::object(
      {{"bearer", bearer},
       {"signature",
        header(signature_header, "v2= and the hexadecimal HMAC-SHA-256 of time, hook, signed headers and body")},
       {"timestamp", header(timestamp_header, "seconds since 1970, at most 300 from the server's")}});
  return Json::object({{"openapi", "3.1.0"},
                       {"info", Json::object({{"title", "cairn"}, {"version", version_text}})},
                       {"paths", paths},
                       {"security", Json::array({Json::object({{"bearer", Json::array()}})})},
                       {"components", Json::object({{"schemas", answer_components()}, {"securitySchemes", schemes}})}});
}

}  // namespace cairn::api
