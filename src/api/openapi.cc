// The OpenAPI document, from the table of routes.
#include <algorithm>

#include "api/answer_schemas.h"
#include "api/route.h"
#include "base/ascii.h"
#include "base/version.h"
#include "outbox/signature.h"

namespace cairn::api {
namespace {

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

Json reference(std::string_view kind, std::string_view name) {
  return Json::object({{"$ref", "#/components/" + std::string(kind) + "/" + std::string(name)}});
}

// The part of the path after the version names the resource.
std::string tag_of(const Route& route) {
  std::string_view path = route.path;
  if (!path.starts_with("/v1/")) return "server";
  path.remove_prefix(4);
  return std::string(path.substr(0, path.find('/')));
}

// These compare If-Match with the state version of what they change.
bool takes_if_match(const Route& route) {
  constexpr std::string_view operations[] = {"cancelInstance", "suspendInstance", "resumeInstance", "retryInstance",
                                             "skipStep",       "editState",       "assignTask",     "releaseTask",
                                             "reassignTask",   "commentTask",     "completeTask",   "changeSchedule",
                                             "deleteInstance", "discardSignal",   "signalInstance"};
  return std::find(std::begin(operations), std::end(operations), route.operation) != std::end(operations);
}

Json header_parameter(const char* name, const char* description, const char* example) {
  return Json::object({{"name", name},
                       {"in", "header"},
                       {"description", description},
                       {"schema", Json::object({{"type", "string"}})},
                       {"example", example}});
}

struct HeaderParameter {
  std::string_view operation;
  const char* name;
  const char* description;
  const char* example;
};
constexpr HeaderParameter header_parameters[] = {
    {"streamEvents", "Last-Event-ID", "continue after the event of this number", "4711"},
    {"getNewestDiagram", "If-None-Match", "the ETag of a known diagram; 304 if it is still the same", "\"5f0c\""},
    {"getDefinitionDiagram", "If-None-Match", "the ETag of a known diagram; 304 if it is still the same", "\"5f0c\""},
    {"getInstanceDiagram", "If-None-Match", "the ETag of a known diagram; 304 if it is still the same", "\"5f0c\""},
};

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
  if (route.method == "POST" && route.permission != Permission::open) {
    parameters.push_back(header_parameter(
        "Idempotency-Key", "the same request with the same key is carried out once; a repeat gets the first answer",
        "order-4711"));
  }
  if (takes_if_match(route)) {
    parameters.push_back(
        header_parameter("If-Match", "the state version that the caller has seen; 412 if it is not current", "\"7\""));
  }
  for (const HeaderParameter& header : header_parameters) {
    if (header.operation == route.operation) {
      parameters.push_back(header_parameter(header.name, header.description, header.example));
    }
  }
  if (route.method != "GET" && route.permission != Permission::open && route.permission != Permission::signed_request) {
    parameters.push_back(header_parameter("X-Cairn-Reason", "why, for the audit trail; a `reason` of the request wins",
                                          "asked by the customer"));
    parameters.push_back(header_parameter(
        "X-Cairn-CSRF", "`csrf` of GET /v1/session; only changes with the cookie of a session need it", "3f9a"));
  }
  if (route.method != "GET") {
    parameters.push_back(header_parameter("traceparent", "W3C trace context, which the request continues",
                                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
  }
  return parameters;
}

bool has_body(const Route& route) {
  return !route.body_schema.empty() || route.content_types.find(',') != std::string_view::npos;
}

// Answers about one instance, task or schedule name its state version.
bool names_version(const AnswerSchema& answer) {
  constexpr std::string_view schemas[] = {"InstanceAnswer", "Instance", "Snapshot", "Task", "Schedule"};
  const bool diagram = answer.operation.ends_with("Diagram");
  // A completion moves the instance, and its answer is about the instance.
  return diagram || (answer.operation != "completeTask" &&
                     std::find(std::begin(schemas), std::end(schemas), answer.schema) != std::end(schemas));
}

Json headers_of(const Route& route, const AnswerSchema& answer) {
  Json headers = Json::object();
  if (names_version(answer)) headers.set("ETag", reference("headers", "ETag"));
  if (route.method == "POST" && route.permission != Permission::open) {
    headers.set("Idempotency-Replayed", reference("headers", "IdempotencyReplayed"));
  }
  if (route.operation == "startBulk" && answer.status != "200")
    headers.set("Location", reference("headers", "Location"));
  constexpr std::string_view with_cookie[] = {"createSession", "endSession", "beginLogin", "finishLogin"};
  if (std::find(std::begin(with_cookie), std::end(with_cookie), route.operation) != std::end(with_cookie)) {
    headers.set("Set-Cookie", reference("headers", "SetCookie"));
  }
  if (route.operation == "beginLogin") headers.set("Location", reference("headers", "Location"));
  return headers;
}

Json shared_headers() {
  const auto header = [](const char* description, const char* example) {
    return Json::object(
        {{"description", description}, {"schema", Json::object({{"type", "string"}})}, {"example", example}});
  };
  return Json::object(
      {{"ETag",
        header("the current state version, for If-Match; of a diagram its content, for If-None-Match", "\"7\"")},
       {"IdempotencyReplayed", header("`true`: the answer to an earlier request with the same key", "true")},
       {"Location", header("where the progress of the job is, or where to sign in", "/v1/bulk/0190")},
       {"RetryAfter", header("seconds after which a repeat makes sense", "1")},
       {"SetCookie", header("the cookie of the session", "cairn_session=3f9a")},
       {"WwwAuthenticate", header("how to authenticate", "Bearer")}});
}

Json success(const Route& route, const AnswerSchema& answer) {
  Json response = Json::object({{"description", answer.description.empty() ? "done" : answer.description}});
  if (Json headers = headers_of(route, answer); headers.size() > 0) response.set("headers", std::move(headers));
  if (answer.media_types.empty()) return response;
  Json content = Json::object();
  for (std::string_view rest = answer.media_types; !rest.empty();) {
    const std::string_view type = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), type.size() + 1));
    const Json schema = !answer.schema.empty() ? reference("schemas", answer.schema)
                        : type == json_type    ? Json::object({{"type", "object"}})
                                               : Json::object({{"type", "string"}});
    content.set(type, Json::object({{"schema", schema}}));
  }
  response.set("content", content);
  return response;
}

Json problem_content() {
  return Json::object({{"application/problem+json", Json::object({{"schema", reference("schemas", "Problem")}})}});
}

// The refusals of an operation follow from its route.
std::vector<std::string_view> refusals_of(const Route& route) {
  std::vector<std::string_view> statuses{"400", "500", "503"};
  const bool changes = route.method != "GET";
  if (route.permission != Permission::open) statuses.insert(statuses.end(), {"401", "403", "413", "429"});
  if (route.path.find('{') != std::string_view::npos) statuses.emplace_back("404");
  if (changes) statuses.insert(statuses.end(), {"409", "415"});
  if (has_body(route)) statuses.emplace_back("404");
  if (has_body(route) || !route.query.empty()) statuses.emplace_back("422");
  if (takes_if_match(route)) statuses.emplace_back("412");
  if (route.permission == Permission::open && changes) statuses.insert(statuses.end(), {"401", "403", "413", "429"});
  return statuses;
}

Json responses_of(const Route& route) {
  Json responses = Json::object();
  for (const AnswerSchema& answer : answers_of(route.operation)) responses.set(answer.status, success(route, answer));
  for (const std::string_view status : refusals_of(route)) {
    responses.set(status, reference("responses", "Refused" + std::string(status)));
  }
  responses.set("default", Json::object({{"description", "another problem"}, {"content", problem_content()}}));
  return responses;
}

struct Refusal {
  const char* status;
  const char* description;
  const char* header = nullptr;
  const char* component = nullptr;  // of the header
};
constexpr Refusal refusals[] = {
    {"400", "a parameter or header cannot be read, or the body is not JSON"},
    {"401", "no valid credential", "WWW-Authenticate", "WwwAuthenticate"},
    {"403", "the caller may not do this"},
    {"404", "unknown resource"},
    {"409", "another request was first, or the resource has ended"},
    {"412", "If-Match names another state version than the current one", "ETag", "ETag"},
    {"413", "a limit was exceeded"},
    {"415", "the body has another media type"},
    {"422", "the request is invalid; `errors` says where"},
    {"429", "too many requests; retry after Retry-After", "Retry-After", "RetryAfter"},
    {"500", "an unexpected failure, or a corrupt row"},
    {"503", "the server or its store cannot do it now; retry after Retry-After", "Retry-After", "RetryAfter"},
};

Json shared_responses() {
  Json responses = Json::object();
  for (const Refusal& refusal : refusals) {
    Json response = Json::object({{"description", refusal.description}, {"content", problem_content()}});
    if (refusal.header != nullptr) {
      response.set("headers", Json::object({{refusal.header, reference("headers", refusal.component)}}));
    }
    responses.set("Refused" + std::string(refusal.status), std::move(response));
  }
  return responses;
}

// Examples of request bodies, by operation.
constexpr std::pair<std::string_view, std::string_view> examples[] = {
    {"startInstance", R"({"definition":"loan.approval","input":{"amount":5000},"reference":{"key":"LOAN-7"}})"},
    {"signalInstance", R"({"name":"payment.received","key":"LOAN-7","payload":{"amount":5000}})"},
    {"sendSignal", R"({"name":"payment.received","key":"LOAN-7","payload":{"amount":5000},"ttl":"1h"})"},
    {"completeTask", R"({"payload":{"approved":true}})"},
    {"submitRun", R"({"type":"billing.charge.v1","payload":{"amount":12},"idempotency_key":"order-7"})"},
    {"leaseRuns", R"({"worker":"billing-1","prefixes":["billing."],"max":10,"wait":"20s"})"},
    {"completeRun", R"({"fence":4711,"result":{"receipt":"R-1"}})"},
    {"failRun", R"({"fence":4711,"error":{"code":"busy","message":"no answer"}})"},
    {"putRunType", R"({"concurrency":5,"limit_key":"payload.customer"})"},
    {"createSchedule",
     R"({"name":"nightly","cron":"0 2 * * *","zone":"Europe/Berlin","start":{"definition":"report"}})"},
    {"createKey", R"({"subject":"billing","roles":["worker"],"scope":{"prefixes":["billing."]},"expires_in":"90d"})"},
    {"startBulk", R"({"action":"retry","filter":"status:suspended definition:loan.approval","dry_run":true})"},
    {"deployDefinition", R"({"cairn":1,"name":"hello","version":"1.0.0","steps":[{"task":{"name":"Greet"}}]})"},
    {"receiveEvents",
     R"({"specversion":"1.0","id":"4711","source":"/bank","type":"payment.received","subject":"LOAN-7","data":{"amount":5000}})"},
    {"receiveHook", R"({"order":{"no":"LOAN-7","amount":5000}})"},
    {"retryInstance", R"({"new_key":false,"reason":"the bank answers again"})"},
    {"skipStep", R"({"result":{"score":700},"reason":"asked by phone"})"},
    {"editState", R"({"amount":5000})"},
    {"runRetention", R"({"completed":"30d"})"},
    {"submitRuns", R"({"runs":[{"type":"billing.charge.v1","payload":{"amount":12},"idempotency_key":"order-7"}]})"},
    {"heartbeatRun", R"({"fence":4711,"lease":"30s"})"},
    {"heartbeatRuns", R"({"runs":[{"id":"0190a1b2-0000-7000-8000-000000000000","fence":4711}]})"},
    {"releaseRun", R"({"fence":4711})"},
    {"releaseRuns", R"({"runs":[{"id":"0190a1b2-0000-7000-8000-000000000000","fence":4711}]})"},
    {"reportRuns",
     R"({"reports":[{"id":"0190a1b2-0000-7000-8000-000000000000","fence":4711,"result":{"receipt":"R-1"}}]})"},
    {"changeSchedule", R"({"cron":"0 3 * * *"})"},
    {"assignTask", R"({"assignee":"ann"})"},
    {"reassignTask", R"({"assignee":"ann"})"},
    {"commentTask", R"({"comment":"waits for the bank"})"},
    {"putDraft", R"({"payload":{"approved":true}})"},
    {"putView", R"({"name":"Stopped loans","filter":"status:suspended definition:loan.approval"})"},
    {"putAlert", R"({"name":"Loans are stopped","filter":"status:suspended","more_than":10,"for":"5m"})"},
    {"createTaskLink", R"({"person":"nora","expires_in":"72h"})"},
    {"giveAnswer", R"({"payload":{"approved":true}})"},
    {"createEmbedToken", R"({"instance":"0190a1b2-0000-7000-8000-000000000000","expires_in":"10m"})"},
    {"finishLogin", R"({"code":"4f1b","state":"9c0d"})"},
};

void add_example(const Route& route, Json& body) {
  if (body["content"].find("application/json") == nullptr) return;
  Json& content = body.edit("content").edit("application/json");
  for (const auto& [operation, text] : examples) {
    if (operation == route.operation) content.set("example", parse_json(text).value_or(Json()));
  }
  if (content.find("example") != nullptr) return;
  const Json& members = content["schema"]["properties"];
  if (members.is_object() && members.size() == 1 && members.find("reason") != nullptr) {
    content.set("example", Json::object({{"reason", "asked by the customer"}}));
  }
}

}  // namespace

Json Router::openapi() const {
  Json paths = Json::object();
  for (const Route& route : routes()) {
    Json operation = Json::object({{"operationId", route.operation},
                                   {"summary", route.summary},
                                   {"description", std::string(route.summary) + ". It needs the permission `" +
                                                       to_string(route.permission) + "`."},
                                   {"tags", Json::array({tag_of(route)})},
                                   {"x-permission", to_string(route.permission)}});
    if (const Json parameters = parameters_of(route); parameters.size() > 0) operation.set("parameters", parameters);
    // The body of finishLogin identifies the caller.
    const bool by_body = route.operation == "finishLogin";
    const bool by_link = route.operation == "showAnswerPage" || route.operation == "giveAnswer";
    if (route.permission == Permission::open || by_body) operation.set("security", Json::array());
    if (by_link) operation.set("security", Json::array({Json::object({{"link", Json::array()}})}));
    if (route.permission == Permission::signed_request && !by_body && !by_link) {
      operation.set("security",
                    Json::array({Json::object({{"signature", Json::array()}, {"timestamp", Json::array()}})}));
    }
    if (Json body = body_of(route); !body.is_null()) {
      add_example(route, body);
      operation.set("requestBody", std::move(body));
    }
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
       {"link", header("X-Cairn-Link", "the token of POST /v1/tasks/{id}/link")},
       {"timestamp", header(timestamp_header, "seconds since 1970, at most 300 from the server's")}});
  const char* const about =
      "Workflows, tasks, runs, schedules and events. Lists have `next_cursor`: pass it as `cursor`.";
  return Json::object({{"openapi", "3.1.0"},
                       {"info", Json::object({{"title", "cairn"}, {"version", version_text}, {"description", about}})},
                       {"paths", paths},
                       {"security", Json::array({Json::object({{"bearer", Json::array()}})})},
                       {"components", Json::object({{"schemas", answer_components()},
                                                    {"responses", shared_responses()},
                                                    {"headers", shared_headers()},
                                                    {"securitySchemes", schemes}})}});
}

}  // namespace cairn::api
