#include "api/route.h"

#include <algorithm>
#include <map>
#include <set>

#include "api/held_body.h"
#include "api/if_match.h"
#include "api/problem.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "base/version.h"

namespace cairn::api {
namespace {

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = path.find('/');
    segments.push_back(path.substr(0, end));
    path = end == std::string_view::npos ? std::string_view() : path.substr(end);
  }
  return segments;
}

bool is_parameter(std::string_view segment) { return segment.size() > 2 && segment.front() == '{'; }
std::string_view parameter_name(std::string_view segment) { return segment.substr(1, segment.size() - 2); }

bool fits(const std::vector<std::string_view>& pattern, const std::vector<std::string_view>& path) {
  return std::equal(pattern.begin(), pattern.end(), path.begin(), path.end(),
                    [](std::string_view a, std::string_view b) { return is_parameter(a) ? !b.empty() : a == b; });
}

// Returns `text` up to `mark`, trimmed; `text` continues after the mark.
std::string_view next_part(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  while (part.starts_with(' ')) part.remove_prefix(1);
  while (part.ends_with(' ')) part.remove_suffix(1);
  return part;
}

// What is wrong with the content type of the body; empty if nothing. A body without a type is refused too, because a
// page of another site can make a browser send one.
std::optional<std::string> misdeclared(const Request& request, std::string_view accepted) {
  if (request.body.empty()) return std::nullopt;
  // A CloudEvent in binary mode declares the type of its data. Pages of other sites cannot make a browser send its
  // headers.
  const bool takes_events = accepted.starts_with("application/cloudevents");
  if (takes_events && !request.header("ce-specversion").empty()) return std::nullopt;
  std::string_view declared = request.header("content-type");
  const std::string type = ascii_lower(next_part(declared, ';'));
  bool known = false;
  for (std::string_view rest = accepted; !rest.empty() && !known;) known = next_part(rest, ',') == type;
  if (!known) {
    std::string any(accepted);
    if (const std::size_t last = any.rfind(", "); last != std::string::npos) any.replace(last, 2, " or ");
    return "send " + any + ", not " + (type.empty() ? "a body without a type" : type);
  }
  while (!declared.empty()) {
    const std::string parameter = ascii_lower(next_part(declared, ';'));
    if (parameter.starts_with("charset=") && parameter != "charset=utf-8" && parameter != "charset=\"utf-8\"") {
      return "send UTF-8, not " + parameter.substr(8);
    }
  }
  const std::string encoding = ascii_lower(request.header("content-encoding"));
  if (!encoding.empty() && encoding != "identity") return "send the body uncompressed, not " + encoding;
  return std::nullopt;
}

// Parameters that are true or false. Another value would count as false without a word.
bool is_yes_or_no(std::string_view name) {
  constexpr std::string_view names[] = {"closed", "overdue", "mine", "unpublished", "deleted"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Most operations without arguments accept a reason for the audit trail.
constexpr std::string_view reason_only =
    R"({"type":"object","additionalProperties":false,"properties":{"reason":{"type":"string"}}})";

}  // namespace

std::string_view Call::at(std::string_view name) const {
  for (const auto& [key, value] : path) {
    if (key == name) return value;
  }
  return {};
}

struct Router::Table {
  struct Entry {
    std::vector<std::string_view> segments;
    std::optional<schema::Schema> body;
  };
  std::vector<Route> routes;
  std::vector<Entry> entries;
};

Result<Router> Router::make(std::vector<Route> routes) {
  auto table = std::make_shared<Table>();
  table->routes = std::move(routes);
  std::set<std::string> places;
  std::set<std::string_view> operations;
  for (Route& route : table->routes) {
    // A route with several media types reads its body itself.
    const bool own_body = route.content_types.find(',') != std::string_view::npos;
    if (route.method == "POST" && route.body_schema.empty() && !own_body) route.body_schema = reason_only;
    const std::string place = std::string(route.method) + " " + std::string(route.path);
    if (route.permission == Permission::undeclared)
      return Error{ErrorCode::invalid, "route " + place + " has no permission"};
    if ((route.permission == Permission::signed_request) != static_cast<bool>(route.identify)) {
      return Error{ErrorCode::invalid, "route " + place + " does not identify the signer"};
    }
    if (!places.insert(place).second || !operations.insert(route.operation).second) {
      return Error{ErrorCode::invalid, "route " + place + " is declared twice"};
    }
    Table::Entry entry{segments_of(route.path), std::nullopt};
    if (!route.body_schema.empty()) {
      CAIRN_TRY(const Json document, parse_json(route.body_schema));
      auto compiled = schema::Schema::compile(document);
      if (!compiled) return Error{ErrorCode::invalid, "route " + place + ": " + compiled.error()[0].message};
      entry.body = std::move(*compiled);
    }
    table->entries.push_back(std::move(entry));
  }
  Router router;
  router.table_ = std::move(table);
  return router;
}

const std::vector<Route>& Router::routes() const { return table_->routes; }

Router::Match Router::match(const Request& request) const {
  Match match;
  const std::vector<std::string_view> segments = segments_of(request.path);
  const bool head = request.method == "HEAD";
  for (std::size_t i = 0; i < table_->routes.size(); ++i) {
    const Route& route = table_->routes[i];
    const std::vector<std::string_view>& pattern = table_->entries[i].segments;
    if (!fits(pattern, segments)) continue;
    if (route.method != request.method && !(head && route.method == "GET")) {
      match.allowed += (match.allowed.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    match.route = &route;
    for (std::size_t s = 0; s < segments.size(); ++s) {
      if (is_parameter(pattern[s])) match.path.emplace_back(parameter_name(pattern[s]), http::path_value(segments[s]));
    }
    break;
  }
  return match;
}

void Router::handle(Request request, Reply reply) const {
  Match found = match(request);
  handle(std::move(found), std::move(request), std::move(reply));
}

void Router::handle(Match match, Request request, Reply reply, Gate* gate, RequestRecord* record) const {
  if (match.route == nullptr && !match.allowed.empty()) {
    Response response = problem(405, "method", "Method not allowed", "use " + match.allowed);
    response.headers.emplace_back("allow", match.allowed);
    reply(std::move(response));
    return;
  }
  if (match.route == nullptr) {
    reply(problem(404, "not_found", "Unknown resource",
                  "`" + request.path + "` does not exist; /openapi.json lists the resources"));
    return;
  }
  if (auto refusal = refuse_headers(request)) return reply(std::move(*refusal));
  const Route& route = *match.route;
  const Table::Entry& entry = table_->entries[static_cast<std::size_t>(match.route - table_->routes.data())];
  Call call{std::move(request), std::move(match.path), {}, std::move(reply)};
  call.identity.roles = {Role::admin};
  if (const std::string_view user = call.request.header("x-cairn-user"); gate == nullptr && !user.empty()) {
    call.identity.person = call.identity.account = std::string(user);
  }
  if (record != nullptr) {
    record->operation = route.operation;
    call.trace = record->trace;
  }
  if (gate != nullptr) {
    if (!gate->admit(route, call)) return;
    if (record != nullptr) record->account = call.identity.account;
  }
  for (const auto& given : call.request.query) {
    const std::string& name = given.first;
    if (std::none_of(route.query.begin(), route.query.end(),
                     [&](const QueryParameter& known) { return known.name == name; })) {
      call.reply(
          problem(400, "unknown_parameter", "Unknown query parameter",
                  "`" + name + "` is not a parameter of " + std::string(route.method) + " " + std::string(route.path)));
      return;
    }
    if (is_yes_or_no(name) && given.second != "true" && given.second != "false" && !given.second.empty()) {
      call.reply(problem(400, "parameter", "Invalid query parameter", "`" + name + "` must be true or false"));
      return;
    }
  }
  if (auto refusal = refuse_precondition(route, call.request)) return call.reply(std::move(*refusal));
  if (const auto wrong = misdeclared(call.request, route.content_types)) {
    call.reply(problem(415, "media_type", "Unsupported media type", *wrong));
    return;
  }
  if (entry.body) {
    const std::string& text = call.request.body;
    auto body = parse_json(text.empty() ? std::string_view("{}") : std::string_view(text));
    if (!body) {
      call.reply(body.error().code == ErrorCode::limit
                     ? problem(body.error())
                     : problem(400, "not_json", "The body is not JSON", body.error().message));
      return;
    }
    if (const auto violations = entry.body->check(*body); !violations.empty()) {
      call.reply(problem(violations));
      return;
    }
    call.body = std::move(*body);
  }
  if (auto refusal = hold_body(route, call)) return call.reply(std::move(*refusal));
  if (gate == nullptr) {
    route.handle(std::move(call));
  } else if (gate->prepare(route, call)) {
    gate->carry_out(route, std::move(call));
  }
}

}  // namespace cairn::api
