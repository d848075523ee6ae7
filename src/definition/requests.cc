#include "definition/requests.h"

#include <algorithm>
#include <array>

#include "base/suggest.h"

namespace cairn {
namespace {

constexpr std::string_view responses[] = {"body", "full"};
constexpr std::array<std::string_view, 7> methods = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};

const Key http_keys[] = {
    {"method", Shape::text_value, "GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS.", false, Json("GET")},
    {"url", Shape::text_value, "Where the request goes.", true},
    {"headers", Shape::object_value, "Header names and their values.", false, Json::object()},
    {"query", Shape::object_value, "Added to the URL.", false, Json::object()},
    {"body", Shape::value, "Sent as JSON."},
    {"accept", Shape::statuses, "Statuses of 400 and above that are no error here.", false, Json::array()},
    {"response", Shape::choice, "What the result is: the decoded body, or {status, headers, body}.", false,
     Json("body"), nullptr, responses},
};

const Key graphql_keys[] = {
    {"url", Shape::text_value, "Where the request goes.", true},
    {"query", Shape::text_value, "The GraphQL document.", true},
    {"variables", Shape::object_value, "Its variables.", false, Json::object()},
    {"operation", Shape::text_value, "The operation's name, when the document has several."},
    {"headers", Shape::object_value, "Header names and their values.", false, Json::object()},
};

const Key worker_keys[] = {
    {"type", Shape::type_name, "The type of work; workers lease by it.", true},
    {"payload", Shape::value, "What the worker gets. It is stored, so secrets cannot stand here.", false,
     Json::object()},
};

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_literal_text(const Cursor& at) { return at.node().kind == Json::Kind::string && !is_expression(at.node()); }

void check_method(Fields& request) {
  const auto at = request.find("method");
  if (!at || !is_literal_text(*at)) return;
  const std::string_view text = at->node().scalar.as_string();
  if (std::find(methods.begin(), methods.end(), text) != methods.end()) return;
  std::string message = "`method` is one of " + list_in_words(methods) + ", not " + describe(at->node());
  if (const auto near = nearest_name(text, methods)) message += "; did you mean `" + *near + "`?";
  request.site().draft.error(*at, std::move(message));
}

void check_url(Fields& request) {
  const auto at = request.find("url");
  if (!at || !is_literal_text(*at)) return;
  const std::string_view text = at->node().scalar.as_string();
  const bool http = text.starts_with("http://") || text.starts_with("https://");
  const bool blank = text.find_first_of(" \t\r\n") != std::string_view::npos;
  if (http && !blank && text.size() > text.find("://") + 3) return;
  request.site().draft.error(*at,
                             "`url` begins with `https://` or `http://` and has no blanks, or it is an expression "
                             "that gives such a URL; this is " +
                                 describe(at->node()));
}

// A header or a query parameter is one scalar. A query parameter may also be a list of scalars.
void check_scalars(Fields& request, std::string_view key, bool lists) {
  const auto at = request.find(key);
  if (!at || at->node().kind != Json::Kind::object || is_expression(at->node())) return;
  Draft& draft = request.site().draft;
  for (const SourceMember& member : at->node().members) {
    if (key == "headers" && !is_token(member.key)) {
      draft.findings.error(member.key_at, at->pointer_to(member.key), "`" + member.key + "` is no header name");
    }
    const Cursor value = at->member(member);
    const Json::Kind kind = member.value.kind;
    if (is_expression(member.value) || (lists && kind == Json::Kind::array)) continue;
    if (kind == Json::Kind::array || kind == Json::Kind::object || kind == Json::Kind::null) {
      draft.error(value, value.name() + " takes text, a number, `true` or `false`" +
                             (lists ? " or a list of them" : "") + ", not " + describe(member.value));
    }
  }
}

Template object_of(std::initializer_list<std::pair<std::string_view, std::optional<Template>>> members) {
  Template::Object held;
  for (const auto& [key, value] : members) {
    if (value) held.emplace_back(key, *value);
  }
  return Template::object(std::move(held));
}

Json read_statuses(Fields& request) {
  const auto at = request.list("accept");
  Json::Array statuses;
  if (!at) return Json(std::move(statuses));
  for (std::size_t i = 0; i < at->node().items.size(); ++i) {
    const SourceNode& item = at->node().items[i];
    if (item.kind == Json::Kind::integer && item.scalar.as_integer() >= 100 && item.scalar.as_integer() <= 599) {
      statuses.push_back(item.scalar);
    } else {
      request.site().draft.error(at->item(i),
                                 "`accept` lists HTTP status codes from 100 to 599, not " + describe(item));
    }
  }
  request.put("accept", Json(statuses));
  return Json(std::move(statuses));
}

}  // namespace

const KeyTable http_table{"http request", http_keys};
const KeyTable graphql_table{"graphql request", graphql_keys};
const KeyTable worker_table{"worker request", worker_keys};

void read_http(Fields& call, const Cursor& at, CallStep& step) {
  Fields fields(call.site(), at, http_table);
  check_method(fields);
  check_url(fields);
  check_scalars(fields, "headers", false);
  check_scalars(fields, "query", true);
  const auto method = fields.value("method");
  const auto url = fields.value("url", true);
  const auto headers = fields.value("headers", true);
  const auto query = fields.value("query", true);
  const auto body = fields.value("body", true);
  const Template accept = Template::literal(read_statuses(fields));
  const auto response = fields.choice("response");
  step.request = object_of({{"method", method},
                            {"url", url},
                            {"headers", headers},
                            {"query", query},
                            {"body", body},
                            {"accept", accept},
                            {"response", Template::literal(response.value_or("body"))}});
  call.put("http", fields.take());
}

void read_graphql(Fields& call, const Cursor& at, CallStep& step) {
  Fields fields(call.site(), at, graphql_table);
  check_url(fields);
  check_scalars(fields, "headers", false);
  const auto url = fields.value("url", true);
  const auto query = fields.value("query", true);
  const auto variables = fields.value("variables", true);
  const auto operation = fields.value("operation");
  const auto headers = fields.value("headers", true);
  step.request = object_of(
      {{"url", url}, {"query", query}, {"variables", variables}, {"operation", operation}, {"headers", headers}});
  call.put("graphql", fields.take());
}

void read_worker(Fields& call, const Cursor& at, CallStep& step) {
  Fields fields(call.site(), at, worker_table);
  step.worker_type = fields.text("type").value_or("");
  if (step.worker_type.starts_with("cairn.")) {
    const auto type = fields.find("type");
    fields.site().draft.findings.error(type->at(), type->pointer(),
                                       "types under `cairn.` are reserved for the engine; use `http` or `graphql`");
  }
  step.request = fields.value("payload").value_or(Template());
  call.put("worker", fields.take());
}

}  // namespace cairn
