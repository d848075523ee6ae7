#include "api/access/session.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "base/sha256.h"

namespace cairn::api {
namespace {

// A browser takes the first only from a page under TLS and for the whole host, the second only from a page under TLS.
constexpr std::string_view host_cookie = "__Host-cairn_session";
constexpr std::string_view secure_cookie = "__Secure-cairn_session";
constexpr std::string_view plain_cookie = "cairn_session";

constexpr std::size_t token_characters = 64;

bool is_token(std::string_view text) {
  return text.size() == token_characters && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Over TLS a cookie without a prefix does not count: a page without TLS could have set it.
bool is_session_cookie(std::string_view name, bool secure) {
  return name == host_cookie || name == secure_cookie || (!secure && name == plain_cookie);
}

template <class Take>
void for_each_cookie(const Request& request, const Take& take) {
  for (const auto& [header, value] : request.headers) {
    if (header != "cookie") continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t end = rest.find(';');
      std::string_view one = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      while (one.starts_with(' ')) one.remove_prefix(1);
      const std::size_t equals = one.find('=');
      if (equals != std::string_view::npos) take(one.substr(0, equals), one.substr(equals + 1));
    }
  }
}

// Browsers say which page sent a request. `none` is the user: an address that was typed, or a bookmark.
bool is_from_other_origin(const Request& request) {
  const std::string_view site = request.header("sec-fetch-site");
  return !site.empty() && site != "same-origin" && site != "none";
}

Json names(const std::vector<std::string>& list) {
  Json out = Json::array();
  for (const std::string& name : list) out.push_back(name);
  return out;
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Json& item : list.items()) {
    if (item.is_string()) out.emplace_back(item.as_string());
  }
  return out;
}

}  // namespace

std::string cookie_token(const Request& request) {
  if (is_from_other_origin(request)) return {};
  std::string found;
  int count = 0;
  for_each_cookie(request, [&](std::string_view name, std::string_view value) {
    if (!is_session_cookie(name, request.secure)) return;
    found = std::string(value);
    ++count;
  });
  return count == 1 && is_token(found) ? found : std::string();
}

std::string session_token(const Request& request) {
  const bool has_header = std::any_of(request.headers.begin(), request.headers.end(),
                                      [](const auto& header) { return header.first == "authorization"; });
  return has_header ? std::string() : cookie_token(request);
}

std::string csrf_token(std::string_view session_token) { return sha256_hex("csrf " + std::string(session_token)); }

bool has_csrf_token(const Request& request, std::string_view session_token) {
  const std::string expected = csrf_token(session_token);
  const std::string_view given = request.header("x-cairn-csrf");
  return given.size() == expected.size() && CRYPTO_memcmp(given.data(), expected.data(), expected.size()) == 0;
}

// A proxy may have the certificate: then the page's origin says so.
bool is_under_tls(const Request& request) { return request.secure || request.header("origin").starts_with("https://"); }

std::string session_cookie(bool under_tls, std::string_view token, const std::string& base_path) {
  std::string text(!under_tls ? plain_cookie : base_path.empty() ? host_cookie : secure_cookie);
  text += "=" + std::string(token) + "; Path=" + (base_path.empty() ? "/" : base_path) + "; HttpOnly; SameSite=Strict";
  if (under_tls) text += "; Secure";
  if (token.empty()) text += "; Max-Age=0";
  return text;
}

std::string stale_session_cookie(const Request& request, const std::string& base_path) {
  if (!is_under_tls(request)) return {};
  bool stale = false;
  for_each_cookie(request, [&](std::string_view name, std::string_view) { stale = stale || name == plain_cookie; });
  if (!stale) return {};
  return std::string(plain_cookie) + "=; Path=" + (base_path.empty() ? "/" : base_path) +
         "; HttpOnly; SameSite=Strict; Max-Age=0";
}

ApiKeyRow session_of_key(const Identity& identity, const std::string& key_hash) {
  ApiKeyRow row;
  row.subject = identity.person;
  row.scope = Json::object({{"session", Json::object({{"key", key_hash}})}});
  return row;
}

ApiKeyRow session_of_token(const Identity& identity, const TokenKey& key) {
  ApiKeyRow row;
  row.subject = identity.person;
  for (const Role role : identity.roles) row.roles.emplace_back(to_string(role));
  const Json signed_by = Json::object({{"id", key.id}, {"algorithm", key.algorithm}, {"fingerprint", key.fingerprint}});
  row.scope = Json::object({{"session", Json::object({{"account", identity.account}, {"token_key", signed_by}})}});
  if (identity.task_roles) row.scope.set("task_roles", names(*identity.task_roles));
  if (identity.prefixes) row.scope.set("prefixes", names(*identity.prefixes));
  return row;
}

TokenKey token_key_of(const ApiKeyRow& session) {
  const Json& key = session.scope["session"]["token_key"];
  if (!key.is_object()) return {};
  return {std::string(key.text_or("id", "")), std::string(key.text_or("algorithm", "")),
          std::string(key.text_or("fingerprint", ""))};
}

std::string key_hash_of(const ApiKeyRow& session) { return std::string(session.scope["session"].text_or("key", "")); }

Identity identity_of_session(const ApiKeyRow& session) {
  Identity identity;
  identity.account = std::string(session.scope["session"].text_or("account", ""));
  identity.person = session.subject;
  for (const std::string& name : session.roles) {
    if (const auto role = role_from(name)) identity.roles.push_back(*role);
  }
  identity.task_roles = texts(session.scope["task_roles"]);
  if (session.scope.find("prefixes")) identity.prefixes = texts(session.scope["prefixes"]);
  // A missing list must not mean "no limit", except for an admin.
  if (!identity.prefixes && !identity.may(Permission::administer)) identity.prefixes.emplace();
  return identity;
}

}  // namespace cairn::api
