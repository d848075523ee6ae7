// /v1/session: who is signed in, signing in and signing out (access/session.h).
#include "api/access/session.h"
#include "api/api.h"
#include "api/problem.h"

namespace cairn::api {
namespace {

constexpr Permission shown_permissions[] = {Permission::view,         Permission::view_tasks, Permission::work_tasks,
                                            Permission::manage_tasks, Permission::start,      Permission::operate,
                                            Permission::deploy,       Permission::administer, Permission::work_runs,
                                            Permission::report_runs};

// `identity` is null if the caller is not signed in.
Json session_document(const Identity* identity, const char* auth, const std::string& csrf) {
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
                       {"sign_in", Json::array({"key"})}});
}

// 200 also without a credential, because a browser reports every other status as an error of the page.
void show_session(Authenticator& authenticator, const Call& call) {
  const auto identity = authenticator.identify(call.request);
  if (!identity && identity.error().code != ErrorCode::not_allowed) return call.reply(problem(identity.error()));
  const std::string token = authenticator.required() ? session_token(call.request) : std::string();
  const char* const auth = !authenticator.required() ? "none" : token.empty() && identity ? "bearer" : "session";
  call.reply(json_response(session_document(identity ? &*identity : nullptr, auth,
                                            identity && !token.empty() ? csrf_token(token) : std::string())));
}

void create_session(Authenticator& authenticator, const std::string& base_path, const Call& call) {
  if (!authenticator.required()) {
    return call.reply(problem(409, "no_authentication", "This server asks for no credential",
                              "use it without signing in; it answers to this machine only"));
  }
  const auto token = authenticator.start_session(call.request, call.identity);
  if (!token) return call.reply(problem(token.error()));
  // The browser forgets the cookie of an earlier session.
  if (const auto ended = authenticator.end_session(call.request); !ended) return call.reply(problem(ended.error()));
  Response response = json_response(session_document(&call.identity, "session", csrf_token(*token)), 201);
  response.headers.emplace_back("set-cookie", session_cookie(call.request, *token, base_path));
  if (std::string stale = stale_session_cookie(call.request, base_path); !stale.empty()) {
    response.headers.emplace_back("set-cookie", std::move(stale));
  }
  call.reply(std::move(response));
}

void end(Authenticator& authenticator, const std::string& base_path, const Call& call) {
  const auto ended = authenticator.end_session(call.request);
  if (!ended) return call.reply(problem(ended.error()));
  call.reply({204, "application/json", {{"set-cookie", session_cookie(call.request, "", base_path)}}, ""});
}

}  // namespace

std::vector<Route> session_routes(Authenticator& authenticator, std::string base_path) {
  Authenticator* const with = &authenticator;
  return {
      {"GET", "/v1/session", Permission::open, "getSession", "Who is signed in, and what they may do",
       [with](const Call& call) { show_session(*with, call); }},
      // The token must not be stored anywhere, not even for a repeat.
      {"POST",
       "/v1/session",
       Permission::signed_in,
       "createSession",
       "Sign in: exchange the credential for a cookie",
       [with, base_path](const Call& call) { create_session(*with, base_path, call); },
       {},
       {},
       "application/json",
       true},
      {"DELETE", "/v1/session", Permission::signed_in, "endSession", "Sign out: end the session of the cookie",
       [with, base_path](const Call& call) { end(*with, base_path, call); }},
  };
}

}  // namespace cairn::api
