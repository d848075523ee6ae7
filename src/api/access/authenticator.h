// Identifies the sender of a request: by an API key or a signed token in `Authorization: Bearer …`, or by the cookie of
// a session (access/session.h).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/access/identity.h"
#include "api/access/jwks_source.h"
#include "api/access/ticket.h"
#include "api/http_types.h"
#include "store/access_store.h"

namespace cairn::api {

struct TokenKey;

struct TokenSettings {
  TokenRules rules;
  std::string jwks;  // a path, or https://…
  // Claims, as dotted paths. Values of `roles_claim` that begin with `cairn:` are roles of this server
  // (cairn:operator); the other values are the person's roles in human tasks.
  std::string roles_claim = "roles";
  std::string person_claim = "sub";
  std::string prefixes_claim = "cairn_prefixes";
  std::string ca_file;  // PEM: authorities to trust for https:// in addition to the system's
  JwksSource::Pace pace = {};
};

struct AccessSettings {
  // False: every caller may do everything. Only for servers on this machine.
  bool required = false;
  std::optional<TokenSettings> tokens;
  Duration session_lifetime = Duration::of_seconds(12 * 3600);
  std::shared_ptr<const Tickets> tickets = {};  // shared with the routes that issue them; null: none are accepted
};

class Authenticator {
 public:
  // A revoked key is refused after this time at the latest.
  static constexpr std::chrono::seconds key_kept{2};

  // `store` must outlive it. `fetch` replaces the one over https.
  Authenticator(AccessStore& store, AccessSettings settings, FetchText fetch = {});

  // ErrorCode::not_allowed for an unknown caller; the message is the same for every reason. Other errors: the check is
  // impossible now.
  Result<Identity> identify(const Request& request);
  // Returns a function that tells later whether the request's credential is still valid: not revoked, not expired, and
  // its key not removed. While the store is unavailable the credential counts as valid. The function is cheap; it is
  // empty on servers without authentication. It must not outlive the authenticator.
  std::function<bool()> still_accepted(const Request& request);
  // Whether `identify` needs neither the store nor a token issuer.
  bool is_at_hand(const Request& request);
  bool required() const { return settings_.required; }

  // Starts a session for the caller, whose credential is in the request. Returns its token. ErrorCode::invalid if the
  // request has no Authorization header: a session does not start another one.
  Result<std::string> start_session(const Request& request, const Identity& identity);
  // The person that an ID token names. The token is for the console, so its audience is the console's `client_id`.
  Result<Identity> by_id_token(std::string_view text, const std::string& client_id, std::string_view nonce);
  // Starts a session with the rights of `identity`, for a person who signed in at the provider.
  Result<std::string> start_session(const Identity& identity);
  // Ends the session of the request's cookie, if it has one.
  Result<void> end_session(const Request& request);
  // Whether the caller uses a session and the request lacks its CSRF token.
  bool lacks_csrf_token(const Request& request) const;

 private:
  // The only credential of the request; empty if there is none or more than one.
  static std::string_view given(const Request& request);
  // The row with this hash. It may be outdated by `key_kept`.
  Result<std::optional<ApiKeyRow>> find_row(const std::string& hash);
  bool is_row_at_hand(const std::string& hash);
  Result<Identity> by_key_hash(const std::string& hash);
  Result<Identity> by_session_hash(const std::string& hash);
  Result<Identity> by_token(std::string_view text);
  // The issuer's key that signed this accepted token.
  Result<TokenKey> key_of_token(std::string_view text);
  // ErrorCode::not_allowed if the issuer has removed or replaced the key.
  Result<void> check_token_key(const TokenKey& key);
  Result<Identity> by_ticket(std::string_view text);
  // The claims of a token with a valid signature that follow the rules.
  Result<Json> verified_claims(std::string_view text, const TokenRules& rules);
  Result<Identity> identity_of_claims(const Json& claims);
  // Completes the row and stores it. Returns the session's token.
  Result<std::string> put_session(ApiKeyRow row, const std::string& account);
  // Keeps the roles of a token in the store, where every node finds them when a task is assigned to the person.
  void remember(const Identity& identity);

  struct Known {
    std::optional<ApiKeyRow> row;
    std::chrono::steady_clock::time_point until;
  };
  // Forgets a row that this node has changed.
  void forget(const std::string& hash);

  AccessStore& store_;
  const AccessSettings settings_;
  std::unique_ptr<JwksSource> keys_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // by the secret's hash
  std::mutex starting_session_;         // two new sessions must not take the same row
  struct Remembered {
    TokenUserRow row;
    std::chrono::steady_clock::time_point at;
  };
  std::map<std::string, Remembered> remembered_;  // what this node has written, by account
};

}  // namespace cairn::api
