// Sessions of the console. A browser exchanges its credential for a random token in a cookie that scripts cannot read.
// The store keeps a session beside the API keys, by the hash of its token, so every node knows it and a restart does
// not end it. A session ends when the user signs out, when its lifetime is over, and when its API key is revoked or
// expires. Requests that change something also need a second token in a header, which pages of other sites do not know.
#pragma once

#include <string>
#include <string_view>

#include "api/access/identity.h"
#include "api/http_types.h"
#include "store/access_rows.h"

namespace cairn::api {

// The token in the request's cookie. Empty if there is none or more than one, and if a page of another origin sent the
// request.
std::string cookie_token(const Request& request);
// The same as a credential: empty if the request has an Authorization header, because then only the header counts.
std::string session_token(const Request& request);

// The token that a request must have in X-Cairn-CSRF to change something.
std::string csrf_token(std::string_view session_token);
bool has_csrf_token(const Request& request, std::string_view session_token);

// Whether the page that sent the request is under TLS, also if a proxy has the certificate.
bool is_under_tls(const Request& request);
// The value of Set-Cookie. An empty token removes the cookie.
std::string session_cookie(bool under_tls, std::string_view token, const std::string& base_path);

// The value of Set-Cookie that removes a cookie from before this server was under TLS; empty if the request has none.
// Two cookies in one request count as none.
std::string stale_session_cookie(const Request& request, const std::string& base_path);

// One credential has at most this many sessions; a further one ends the oldest.
inline constexpr std::size_t sessions_max = 64;

// The row of a session that ends with the API key that has `key_hash`.
ApiKeyRow session_of_key(const Identity& identity, const std::string& key_hash);
// The row of a session with the rights of `identity`, for callers with a token.
ApiKeyRow session_of_token(const Identity& identity, const TokenKey& key);
TokenKey token_key_of(const ApiKeyRow& session);
// The hash of the session's API key; empty if it began with a token.
std::string key_hash_of(const ApiKeyRow& session);
// The caller of a session that began with a token.
Identity identity_of_session(const ApiKeyRow& session);

}  // namespace cairn::api
