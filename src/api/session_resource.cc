// /v1/session: who is signed in, signing in and signing out (access/session.h).
#include "api/access/oidc_login.h"
#include "api/access/session.h"
#include "api/api.h"
#include "api/problem.h"

namespace cairn::api {
namespace {

// Shared by the routes. `login` is null if the server has no provider.
struct SignIn {
  Authenticator& authenticator;
  const std::string base_path;
  const std::shared_ptr<OidcLogin> login;
};
using SharedSignIn = std::shared_ptr<const SignIn>;

constexpr Permission shown_permissions[] = {Permission::view,         Permission::view_tasks, Permission::work_tasks,
                                            Permission::manage_tasks, Permission::start,      Permission::operate,
                                            Permission::deploy,       Permission::administer, Permission::work_runs,
                                            Permission::report_runs};

// `identity` is null if the caller is not signed in.
Json session_document(const SignIn& with, const Identity* identity, const char* auth, const std::string& csrf) {
  Json ways = Json::array({"key"});
  if (with.login) ways.push_back("oidc");
  Json roles = Json::array();
  Json permissions = Json::array();
  if (identity != nullptr) {
    for (const Role role : identity->roles) roles.push_back(to_string(role));
    for (const Permission permission : shown_permissions) {
      if (identity->may(permission)) permissions.push_back(to_string(permission));
    }
  }
  return Json::object({{"user", identity == nullptr ? Json() : Json(identity->person)},
                       {"roles", roles},
                       {"permissions", permissions},
                       {"csrf", csrf},
                       {"auth", auth},
                       {"sign_in", ways}});
}

// 200 also without a credential, because a browser reports every other status as an error of the page.
void show_session(const SignIn& with, const Call& call) {
  const auto identity = with.authenticator.identify(call.request);
  if (!identity && identity.error().code != ErrorCode::not_allowed) return call.reply(problem(identity.error()));
  const std::string token = with.authenticator.required() ? session_token(call.request) : std::string();
  const char* const auth = !with.authenticator.required() ? "none" : token.empty() && identity ? "bearer" : "session";
  call.reply(json_response(session_document(with, identity ? &*identity : nullptr, auth,
                                            identity && !token.empty() ? csrf_token(token) : std::string())));
}

// Answers with the new session. The browser forgets the cookie of an earlier one, so that one ends.
void answer_session(const SignIn& with, const Call& call, const Result<std::string>& token, bool under_tls) {
  if (!token) return call.reply(problem(token.error()));
  if (const auto ended = with.authenticator.end_session(call.request); !ended) {
    return call.reply(problem(ended.error()));
  }
  Response response = json_response(session_document(with, &call.identity, "session", csrf_token(*token)), 201);
  response.headers.emplace_back("set-cookie", session_cookie(under_tls, *token, with.base_path));
  if (with.login) response.headers.emplace_back("set-cookie", with.login->end_cookie(with.base_path));
  if (std::string stale = stale_session_cookie(call.request, with.base_path); !stale.empty()) {
    response.headers.emplace_back("set-cookie", std::move(stale));
  }
  call.reply(std::move(response));
}

void create_session(const SignIn& with, const Call& call) {
  if (!with.authenticator.required()) {
    return call.reply(problem(409, "no_authentication", "This server asks for no credential",
                              "use it without signing in; it answers to this machine only"));
  }
  answer_session(with, call, with.authenticator.start_session(call.request, call.identity), is_under_tls(call.request));
}

void end_session(const SignIn& with, const Call& call) {
  const auto ended = with.authenticator.end_session(call.request);
  if (!ended) return call.reply(problem(ended.error()));
  call.reply(
      {204, "application/json", {{"set-cookie", session_cookie(is_under_tls(call.request), "", with.base_path)}}, ""});
}

void begin_login(const SignIn& with, const Call& call) {
  auto response = with.login->begin(with.base_path);
  call.reply(response ? std::move(*response) : problem(response.error()));
}

Result<Identity> identify_by_code(const SignIn& with, const Request& request) {
  const auto body = parse_json(request.body.empty() ? std::string_view("{}") : std::string_view(request.body));
  if (!body) return Error{ErrorCode::invalid, "the body is not JSON"};
  CAIRN_TRY(const OidcLogin::IdToken token,
            with.login->exchange(request, body->text_or("code", ""), body->text_or("state", "")));
  return with.authenticator.by_id_token(token.text, with.login->settings().client_id, token.nonce);
}

void finish_login(const SignIn& with, const Call& call) {
  if (call.identity.roles.empty()) {
    return call.reply(problem(403, "forbidden", "Not allowed",
                              call.identity.person + " has no role of this server; the provider gives roles"));
  }
  answer_session(with, call, with.authenticator.start_session(call.identity), with.login->is_under_tls());
}

constexpr std::string_view login_schema =
    R"({"type":"object","required":["code","state"],"additionalProperties":false,"properties":{
  "code":{"type":"string","maxLength":4000},"state":{"type":"string","maxLength":200}}})";

std::vector<Route> login_routes(const SharedSignIn& with) {
  Route finish{"POST",
               "/v1/session/login",
               Permission::signed_request,
               "finishLogin",
               "Sign in with the code that the OpenID Connect provider gave to the browser",
               [with](const Call& call) { finish_login(*with, call); },
               {},
               login_schema};
  finish.keeps_keys = true;
  finish.identify = [with](const Request& request) { return identify_by_code(*with, request); };
  return {{"GET", "/v1/session/login", Permission::open, "beginLogin", "Go to the OpenID Connect provider to sign in",
           [with](const Call& call) { begin_login(*with, call); }},
          std::move(finish)};
}

}  // namespace

std::vector<Route> session_routes(Authenticator& authenticator, std::string base_path,
                                  std::shared_ptr<OidcLogin> login) {
  const auto with = std::make_shared<const SignIn>(SignIn{authenticator, std::move(base_path), std::move(login)});
  std::vector<Route> routes{
      {"GET", "/v1/session", Permission::open, "getSession", "Who is signed in, and what they may do",
       [with](const Call& call) { show_session(*with, call); }},
      // The token must not be stored anywhere, not even for a repeat.
      {"POST",
       "/v1/session",
       Permission::signed_in,
       "createSession",
       "Sign in: exchange the credential for a cookie",
       [with](const Call& call) { create_session(*with, call); },
       {},
       {},
       "application/json",
       true},
      {"DELETE", "/v1/session", Permission::signed_in, "endSession", "Sign out: end the session of the cookie",
       [with](const Call& call) { end_session(*with, call); }},
  };
  if (with->login) {
    for (Route& route : login_routes(with)) routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace cairn::api
