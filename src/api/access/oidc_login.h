// Signing in to the console at an OpenID Connect provider: authorization code with PKCE (RFC 7636). The browser goes to
// the provider and comes back to the console with a code. The server exchanges the code for an ID token. A cookie binds
// the steps to one browser: it holds the state, the PKCE verifier and the nonce.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "api/http_types.h"
#include "base/result.h"

namespace cairn::api {

struct OidcLoginSettings {
  std::string client_id;
  std::string client_secret;  // empty: a public client
  std::string authorize_url;  // of the provider, for browsers
  std::string token_url;      // of the provider, for this server
  std::string redirect_url;   // the address of this console and /sign-in: https://cairn.example/sign-in
  std::string scope = "openid";
};

// Sends a form to a URL: returns the body of the answer or an error.
using PostForm = std::function<Result<std::string>(const std::string& url, const std::string& form)>;
// By https only, to any address; no redirects, at most 1 MiB, 5 s.
PostForm post_over_https(std::string ca_file);

// Safe to call from several threads.
class OidcLogin {
 public:
  // Requests to the provider at one time. Unknown callers cause them.
  static constexpr int exchanges_max = 8;

  OidcLogin(OidcLoginSettings settings, PostForm post) : settings_(std::move(settings)), post_(std::move(post)) {}

  // Sends the browser to the provider.
  Result<Response> begin(const std::string& base_path) const;

  struct IdToken {
    std::string text;
    std::string nonce;  // that the token must have
  };
  // Exchanges the code. ErrorCode::not_found if the browser has not begun to sign in here, not_allowed if the provider
  // refuses the code.
  Result<IdToken> exchange(const Request& request, std::string_view code, std::string_view state);

  // Removes the cookie.
  std::string end_cookie(const std::string& base_path) const;
  bool is_under_tls() const { return settings_.redirect_url.starts_with("https://"); }
  const OidcLoginSettings& settings() const { return settings_; }

 private:
  std::string cookie(const std::string& value, const std::string& base_path) const;

  const OidcLoginSettings settings_;
  const PostForm post_;
  std::atomic<int> exchanges_{0};
};

}  // namespace cairn::api
