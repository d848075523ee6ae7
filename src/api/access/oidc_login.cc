#include "api/access/oidc_login.h"

#include <openssl/crypto.h>

#include "api/access/api_key.h"
#include "base/base64url.h"
#include "base/json.h"
#include "base/sha256.h"
#include "transport/http_client.h"

namespace cairn::api {
namespace {

constexpr std::string_view cookie_name = "cairn_login";
constexpr std::size_t secret_characters = 64;
constexpr std::size_t cookie_characters = 3 * secret_characters + 2;  // state.verifier.nonce

// Everything except letters, digits, `-`, `.`, `_` and `~` as %XX.
std::string encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain = "-._~";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      (out += '%') += digits[byte / 16];
      out += digits[byte % 16];
    }
  }
  return out;
}

std::string form(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (value.empty()) continue;
    if (!out.empty()) out += '&';
    out += std::string(name) + "=" + encoded(value);
  }
  return out;
}

bool is_login_cookie(std::string_view name) {
  for (const std::string_view prefix : {"__Host-", "__Secure-"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size()) == cookie_name;
  }
  return name == cookie_name;
}

// The only login cookie of the request; empty if there is none or more than one.
std::string login_cookie(const Request& request) {
  std::string found;
  int count = 0;
  for (const auto& [name, value] : request.headers) {
    if (name != "cookie") continue;
    for (std::string_view rest = value; !rest.empty();) {
      const std::size_t end = rest.find(';');
      std::string_view one = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      while (one.starts_with(' ')) one.remove_prefix(1);
      const std::size_t equals = one.find('=');
      if (equals == std::string_view::npos || !is_login_cookie(one.substr(0, equals))) continue;
      found = std::string(one.substr(equals + 1));
      ++count;
    }
  }
  return count == 1 && found.size() == cookie_characters ? found : std::string();
}

}  // namespace

PostForm post_over_https(std::string ca_file) {
  return [ca_file = std::move(ca_file)](const std::string& url, const std::string& body) -> Result<std::string> {
    if (!url.starts_with("https://")) return Error{ErrorCode::invalid, "the URL does not begin with https://"};
    HttpLimits limits;
    limits.connect_timeout = Duration::of_seconds(3);
    limits.response_bytes_max = 1u << 20;
    // The operator named the provider, so it may be on any network.
    HttpClient client(EgressPolicy::everywhere(), limits, HttpSurroundings{ca_file, {}});
    HttpCall call;
    call.method = "POST";
    call.url = url;
    call.headers = {{"content-type", "application/x-www-form-urlencoded"}, {"accept", "application/json"}};
    call.body = body;
    call.has_body = true;
    auto reply = client.send_and_wait(call, Duration::of_seconds(5));
    if (!reply) return Error{ErrorCode::unavailable, reply.error().message};
    if (reply->status >= 400 && reply->status < 500) {
      return Error{ErrorCode::not_allowed, "the provider answered " + std::to_string(reply->status)};
    }
    if (reply->status != 200) {
      return Error{ErrorCode::unavailable, "the provider answered " + std::to_string(reply->status)};
    }
    return std::move(reply->body);
  };
}

std::string OidcLogin::cookie(const std::string& value, const std::string& base_path) const {
  const char* const prefix = !is_under_tls() ? "" : base_path.empty() ? "__Host-" : "__Secure-";
  return prefix + std::string(cookie_name) + "=" + value + "; Path=" + (base_path.empty() ? "/" : base_path) +
         "; HttpOnly; SameSite=Strict" + (is_under_tls() ? "; Secure" : "") +
         (value.empty() ? "; Max-Age=0" : "; Max-Age=600");
}

std::string OidcLogin::end_cookie(const std::string& base_path) const { return cookie("", base_path); }

Result<Response> OidcLogin::begin(const std::string& base_path) const {
  CAIRN_TRY(const std::string state, new_secret());
  CAIRN_TRY(const std::string verifier, new_secret());
  CAIRN_TRY(const std::string nonce, new_secret());
  const auto digest = sha256(verifier);
  const std::string challenge = base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
  const std::string query = form({{"response_type", "code"},
                                  {"client_id", settings_.client_id},
                                  {"redirect_uri", settings_.redirect_url},
                                  {"scope", settings_.scope},
                                  {"state", state},
                                  {"nonce", nonce},
                                  {"code_challenge", challenge},
                                  {"code_challenge_method", "S256"}});
  const char* const mark = settings_.authorize_url.find('?') == std::string::npos ? "?" : "&";
  return Response{303,
                  "text/plain",
                  {{"location", settings_.authorize_url + mark + query},
                   {"set-cookie", cookie(state + "." + verifier + "." + nonce, base_path)}},
                  ""};
}

Result<OidcLogin::IdToken> OidcLogin::exchange(const Request& request, std::string_view code, std::string_view state) {
  const std::string held = login_cookie(request);
  const bool same = !held.empty() && state.size() == secret_characters &&
                    CRYPTO_memcmp(held.data(), state.data(), secret_characters) == 0;
  if (!same || code.empty()) return Error{ErrorCode::not_found, "this browser has no sign-in in progress; begin again"};
  const std::string verifier = held.substr(secret_characters + 1, secret_characters);
  const std::string nonce = held.substr(2 * (secret_characters + 1));

  struct Turn {
    std::atomic<int>& count;
    const bool taken;
    explicit Turn(std::atomic<int>& of) : count(of), taken(of.fetch_add(1) < exchanges_max) {}
    ~Turn() { --count; }
  };
  const Turn turn(exchanges_);
  if (!turn.taken) return Error{ErrorCode::unavailable, "too many users sign in at this moment; try again"};
  CAIRN_TRY(const std::string answer, post_(settings_.token_url, form({{"grant_type", "authorization_code"},
                                                                       {"code", code},
                                                                       {"redirect_uri", settings_.redirect_url},
                                                                       {"client_id", settings_.client_id},
                                                                       {"client_secret", settings_.client_secret},
                                                                       {"code_verifier", verifier}})));
  const auto document = parse_json(answer);
  const std::string_view token = document ? document->text_or("id_token", "") : std::string_view();
  if (token.empty()) return Error{ErrorCode::not_allowed, "the provider gave no ID token"};
  return IdToken{std::string(token), nonce};
}

}  // namespace cairn::api
