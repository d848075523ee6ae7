#include "cli/api_session.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>

#include "api/api.h"
#include "base/clock.h"
#include "base/id.h"
#include "cli/exit_code.h"
#include "cli/store_session.h"
#include "schedule/schedules.h"
#include "transport/http_client.h"

namespace cairn::cli {
namespace {

constexpr std::chrono::milliseconds local_pause{300};
constexpr Duration answer_patience = Duration::of_seconds(180);
constexpr std::size_t answer_bytes_max = 256u << 20;
constexpr const char* follow_wait = "5s";  // then the caller checks whether its output is still read

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

ApiAnswer answer_of(int status, std::string text) {
  ApiAnswer answer{status, {}, std::move(text)};
  // Documents wrap the data of instances, and lists contain many documents.
  const JsonLimits limits{.bytes_max = answer_bytes_max, .depth_max = 512};
  if (auto parsed = parse_json(answer.text, limits)) answer.body = std::move(*parsed);
  return answer;
}

class LocalApi final : public ApiSession {
 public:
  static Result<std::unique_ptr<LocalApi>> open(const std::string& url, Use use) {
    auto session = std::make_unique<LocalApi>();
    CAIRN_TRY(session->store_,
              open_store(url, session->clock_, use == Use::read ? StoreMode::read_only : StoreMode::own));
    CoreOptions options;
    options.node = "cli";
    options.strict_definitions = false;
    CAIRN_TRY(session->core_, EngineCore::open(*session->store_, options));
    attach_schedules(*session->core_);
    const auto waiters = std::make_shared<api::InstanceWaiters>(*session->core_);  // shared with the routes
    CAIRN_TRY(session->router_, api::Router::make(api::api_routes(*session->core_, waiters)));
    session->changes_ = use == Use::change;
    return session;
  }

  void named(std::string_view command, std::string flags, std::string user) {
    command_ = command;
    flags_ = std::move(flags);
    user_ = std::move(user);
  }

  Result<ApiAnswer> send(const ApiRequest& request) override {
    http::Request http;
    http.method = request.method;
    if (!http::decode_path(request.path, http.path)) return Error{ErrorCode::invalid, "not a path"};
    http.query = request.query;
    http.headers = request.headers;
    http.headers.emplace_back("x-cairn-user", user_);
    http.headers.emplace_back("content-type", request.content_type.empty() ? "application/json" : request.content_type);
    http.body = request.text.empty() && !request.body.is_null() ? write_json(request.body) : request.text;
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<http::Response> response;
    router_.handle(std::move(http), http::Reply([&](http::Response given) {
                     const std::lock_guard lock(mutex);
                     response = std::move(given);
                     changed.notify_one();
                   }));
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return response.has_value(); });
    // No other process will continue what this request made due.
    if (changes_ && request.method != "GET") run_until_idle(*core_);
    return answer_of(response->status, std::move(response->body));
  }

 private:
  SystemClock clock_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<EngineCore> core_;
  api::Router router_;
  bool changes_ = false;
};

class RemoteApi final : public ApiSession {
 public:
  RemoteApi(std::string url, std::string_view command, std::string flags, std::string user, std::string token,
            std::string ca_file)
      : url_(std::move(url)),
        token_(std::move(token)),
        client_(EgressPolicy::everywhere(), limits(), HttpSurroundings{std::move(ca_file), {}}) {
    while (url_.ends_with('/')) url_.pop_back();
    if (url_.find("://") == std::string::npos) url_ = "http://" + url_;
    command_ = command;
    flags_ = std::move(flags);
    user_ = std::move(user);
    remote_ = true;
  }

  Result<ApiAnswer> send(const ApiRequest& request) override {
    HttpCall http;
    http.method = request.method;
    http.url = url_ + request.path;
    char separator = '?';
    for (const auto& [name, value] : request.query) {
      http.url += separator + name + "=" + path_part(value);
      separator = '&';
    }
    http.headers = request.headers;
    http.headers.emplace_back("x-cairn-user", user_);
    if (!token_.empty()) http.headers.emplace_back("authorization", "Bearer " + token_);
    http.headers.emplace_back("content-type", request.content_type.empty() ? "application/json" : request.content_type);
    http.body = request.text.empty() && !request.body.is_null() ? write_json(request.body) : request.text;
    http.has_body = !http.body.empty();
    auto reply = client_.send_and_wait(http, answer_patience);
    if (!reply) {
      return Error{ErrorCode::unavailable,
                   "cannot reach " + url_ + ": " + reply.error().message + advice(reply.error())};
    }
    return answer_of(reply->status, std::move(reply->body));
  }

 private:
  std::string advice(const HttpProblem& problem) const {
    if (problem.message.starts_with("TLS: the certificate is not trusted"))
      return "\nName the authority that signed it: --ca-file FILE, CAIRN_CA_FILE or SSL_CERT_FILE.";
    if (problem.message.starts_with("TLS: the certificate is not for")) return "\nUse a name that the certificate has.";
    if (problem.message.starts_with("TLS: the handshake")) return "\nA server without a certificate is http://…";
    if (problem.message.starts_with("TLS: the file of authorities"))
      return "\nName a PEM file with at least one certificate: --ca-file FILE, CAIRN_CA_FILE or SSL_CERT_FILE.";
    const bool ended = problem.kind == HttpProblem::Kind::broken || problem.kind == HttpProblem::Kind::protocol;
    if (ended && url_.starts_with("http://")) return "\nA server with a certificate is https://…";
    return "\nIs the server running, and is --server right?";
  }

  static HttpLimits limits() {
    HttpLimits limits;
    limits.connect_timeout = Duration::of_seconds(5);
    limits.response_bytes_max = answer_bytes_max;
    return limits;
  }

  std::string url_;
  std::string token_;
  HttpClient client_;
};

// The first line of a file with a credential.
Result<std::string> read_secret_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line) || line.empty())
    return Error{ErrorCode::not_found, path + ": contains no credential or cannot be read"};
  if (line.back() == '\r') line.pop_back();
  return line;
}

}  // namespace

std::vector<Flag> with_api_flags(std::vector<Flag> own) {
  own.insert(own.end(), {server_flag,
                         local_store_flag,
                         {"--as", "USER", "act as this user (servers without authentication only)"},
                         {"--token-file", "FILE", "the credential for the server (default: $CAIRN_TOKEN)"},
                         {"--ca-file", "FILE",
                          "PEM: authorities to trust besides the system's (default: $CAIRN_CA_FILE, $SSL_CERT_FILE)"}});
  return own;
}

std::variant<std::unique_ptr<ApiSession>, int> ApiSession::open(std::string_view command, const Arguments& arguments,
                                                                Use use, std::ostream& err) {
  std::string server = arguments.value("--server").value_or("");
  std::string store = arguments.value("--store").value_or("");
  if (!server.empty() && !store.empty()) return wrong_call(command, "give either --server or --store, not both", err);
  std::string flags = !server.empty() ? " --server " + server : !store.empty() ? " --store " + store : "";
  if (server.empty() && store.empty()) {
    server = environment("CAIRN_SERVER");
    if (server.empty()) store = environment("CAIRN_STORE");
  }
  if (server.empty() && store.empty()) {
    return wrong_call(
        command,
        "where? Give --server URL (a running `cairn dev` is http://127.0.0.1:8400) or --store sqlite:PATH, "
        "or set CAIRN_SERVER or CAIRN_STORE",
        err);
  }
  std::string user = arguments.value("--as").value_or(environment("CAIRN_USER"));
  if (user.empty()) user = "cli";
  if (!server.empty()) {
    std::string token = environment("CAIRN_TOKEN");
    if (const auto file = arguments.value("--token-file")) {
      auto text = read_secret_file(*file);
      if (!text) return fail(command, text.error(), err);
      token = std::move(*text);
    }
    std::string authorities = arguments.value("--ca-file").value_or(environment("CAIRN_CA_FILE"));
    if (!authorities.empty() && !std::ifstream(authorities))
      return fail(command, {ErrorCode::not_found, authorities + ": cannot read the certificate authorities"}, err);
    return std::unique_ptr<ApiSession>(std::make_unique<RemoteApi>(server, command, std::move(flags), std::move(user),
                                                                   std::move(token), std::move(authorities)));
  }
  auto local = LocalApi::open(store, use);
  if (!local) return fail(command, local.error(), err);
  (*local)->named(command, std::move(flags), std::move(user));
  return std::unique_ptr<ApiSession>(std::move(*local));
}

std::variant<ApiAnswer, int> ApiSession::ask(const ApiRequest& request, std::ostream& err) {
  auto answer = call(request);
  if (!answer) return fail(command_, answer.error(), err);
  if (!answer->ok()) return refuse(command_, *answer, err);
  return std::move(*answer);
}

std::variant<ApiAnswer, int> ApiSession::next_change(const std::string& place, const Json& seen, std::ostream& err) {
  ApiRequest request{"GET", place};
  if (remote_) {
    request.query = {{"after", write_json(seen["state_version"])}, {"wait", follow_wait}};
  } else {
    // Another process may own the file, and SQLite does not notify readers of writes.
    std::this_thread::sleep_for(local_pause);
  }
  return ask(request, err);
}

std::optional<int> ApiSession::each(ApiRequest request, std::size_t most, const std::function<bool(const Json&)>& take,
                                    std::ostream& err, std::string* cursor) {
  const std::size_t own_parameters = request.query.size();
  std::string next = cursor != nullptr ? *cursor : "";
  while (most > 0) {
    request.query.resize(own_parameters);
    request.query.emplace_back("limit", std::to_string(std::min<std::size_t>(most, 1000)));
    if (!next.empty()) request.query.emplace_back("cursor", next);
    const auto answer = ask(request, err);
    if (const int* code = std::get_if<int>(&answer)) return *code;
    const Json& page = std::get<0>(answer).body;
    next = std::string(page.text_or("next_cursor", ""));
    if (cursor != nullptr) *cursor = next;
    if (!page["items"].is_array()) break;
    for (const Json& item : page["items"].items()) {
      if (!take(item)) return std::nullopt;
      --most;
    }
    if (next.empty()) break;
  }
  return std::nullopt;
}

namespace {

// The id in a path such as /v1/runs/ID/events, and its list.
struct PathId {
  std::string list;  // /v1/runs
  std::string id;
  std::string rest;  // /events
};

std::optional<PathId> id_in(const std::string& path) {
  for (const char* const list : {"/v1/instances", "/v1/tasks", "/v1/runs", "/v1/keys"}) {
    const std::string begin = std::string(list) + "/";
    if (!path.starts_with(begin)) continue;
    const std::size_t end = std::min(path.find('/', begin.size()), path.size());
    return PathId{list, path.substr(begin.size(), end - begin.size()), path.substr(end)};
  }
  return std::nullopt;
}

// A part of the path that would name another resource: an empty one, or one that URLs resolve.
std::optional<std::string> lost_part(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at + 1), path.size());
    const std::string_view part = path.substr(at + 1, end - at - 1);
    if (part.empty() || part == "." || part == "..") return std::string(part);
    at = end;
  }
  return std::nullopt;
}

}  // namespace

Result<ApiSession::FoundIds> ApiSession::ids_with_prefix(const std::string& list, const std::string& prefix) {
  constexpr int pages_max = 10;
  constexpr std::size_t ids_max = 5;
  ApiRequest request{"GET", list};
  if (list == "/v1/instances") request.query = {{"q", prefix}};
  if (list == "/v1/tasks") request.query = {{"closed", "true"}};
  const bool paged = list != "/v1/keys";
  if (paged) request.query.emplace_back("limit", "1000");
  const std::size_t own_parameters = request.query.size();
  FoundIds found;
  for (int page = 0; page < pages_max; ++page) {
    CAIRN_TRY(const ApiAnswer answer, send(request));
    if (!answer.ok() || !answer.body["items"].is_array()) break;
    for (const Json& item : answer.body["items"].items()) {
      if (found.ids.size() < ids_max && item.text_or("id", "").starts_with(prefix))
        found.ids.emplace_back(item.text_or("id", ""));
    }
    const std::string next(answer.body.text_or("next_cursor", ""));
    found.all = next.empty();
    if (found.all || found.ids.size() >= ids_max) break;
    request.query.resize(own_parameters);
    request.query.emplace_back("cursor", next);
  }
  return found;
}

Result<ApiAnswer> ApiSession::call(ApiRequest request) {
  constexpr std::size_t prefix_min = 4;
  if (const auto lost = lost_part(request.path))
    return Error{ErrorCode::not_found, "\"" + *lost + "\" is no id or name"};
  const auto named = id_in(request.path);
  if (named) {
    const auto known = full_ids_.find(named->list + "/" + named->id);
    if (known != full_ids_.end()) request.path = named->list + "/" + path_part(known->second) + named->rest;
  }
  CAIRN_TRY(ApiAnswer answer, send(request));
  const bool may_be_prefix = named && answer.status == 404 && named->id.size() >= prefix_min && !is_uuid(named->id) &&
                             named->id.find('%') == std::string::npos;
  if (!may_be_prefix) return answer;
  CAIRN_TRY(const FoundIds found, ids_with_prefix(named->list, named->id));
  const std::vector<std::string>& ids = found.ids;
  // A whole id: what the answer did not find is below it.
  if (ids.empty() || std::find(ids.begin(), ids.end(), named->id) != ids.end()) return answer;
  if (ids.size() > 1) {
    std::string listed;
    for (const std::string& id : ids) listed += "\n  " + id;
    answer.body = Json::object({{"detail", named->id + " is the beginning of several ids:" + listed}});
    return answer;
  }
  // Callers choose ids such as order-1 and order-10. If order-1 is gone, a change that names it must not reach
  // order-10.
  const bool certain = is_uuid(ids.front()) || named->list == "/v1/keys";
  if (request.method != "GET" && !(certain && found.all)) {
    answer.body = Json::object(
        {{"detail", "no " + named->id + "; " + ids.front() + " begins with it. Give the whole id to change it."}});
    return answer;
  }
  full_ids_[named->list + "/" + named->id] = ids.front();
  request.path = named->list + "/" + path_part(ids.front()) + named->rest;
  return send(request);
}

int exit_code_of_status(int status) {
  switch (status) {
    case 401:
    case 403: return exit_not_allowed;
    case 404:
    case 410: return exit_not_found;
    case 409:
    case 412: return exit_conflict;
    case 400:
    case 413:
    case 415:
    case 422: return exit_invalid;
    case 429:
    case 502:
    case 503:
    case 504: return exit_unreachable;
    default: return exit_failed;
  }
}

int refuse(std::string_view command, const ApiAnswer& answer, std::ostream& err) {
  err << "cairn " << command << ": ";
  if (answer.body["detail"].is_string()) {
    err << answer.body["detail"].as_string();
  } else {
    err << "the server answered " << answer.status;
  }
  err << "\n";
  if (answer.status == 401)
    err << "Give an API key with CAIRN_TOKEN or --token-file; `cairn keys create` creates one.\n";
  const Json& errors = answer.body["errors"];
  if (errors.is_array() && errors.size() > 1) {
    for (const Json& one : errors.items())
      err << "  " << one.text_or("pointer", "") << " " << one.text_or("detail", "") << "\n";
  }
  return exit_code_of_status(answer.status);
}

std::string path_part(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      encoded += c;
    } else {
      constexpr char digits[] = "0123456789ABCDEF";
      encoded += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return encoded;
}

}  // namespace cairn::cli
