// Finds out who a request is from: an API key or a signed token in `Authorization: Bearer …`.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "http/server.h"
#include "api/access/identity.h"
#include "api/access/jwks_source.h"
#include "store/store.h"

namespace cairn::server {

struct TokenSettings {
  TokenRules rules;
  std::string jwks;  // a file, or https://…
  // Claims, by their path with dots. Values of `roles_claim` that begin with `cairn:` are roles here
  // (cairn:operator); the others are the person's roles in human tasks.
  std::string roles_claim = "roles";
  std::string person_claim = "sub";
  std::string prefixes_claim = "cairn_prefixes";
  JwksSource::Pace pace = {};
};

struct AccessSettings {
  // False: everybody may do everything. Only for this machine.
  bool required = false;
  std::optional<TokenSettings> tokens;
};

class Authenticator {
 public:
  // A revoked key is refused after this time at the latest.
  static constexpr std::chrono::seconds key_kept{2};

  // `store` outlives it.
  Authenticator(Store& store, AccessSettings settings, FetchText fetch = fetch_over_https);

  // ErrorCode::not_allowed: nobody known; the message is the same for every reason. Another error: it
  // cannot be told now.
  Result<Identity> identify(const Request& request);
  // Tells later whether the request's credential is still accepted: it was not revoked, did not expire, and its key was
  // not removed. While the store cannot be asked it is. Cheap; empty where everybody is let in. It must not outlive the
  // authenticator.
  std::function<bool()> still_accepted(const Request& request);
  // Whether `identify` would have to ask nobody: no store and no issuer of tokens.
  bool is_at_hand(const Request& request);
  bool required() const { return settings_.required; }

 private:
  // The one credential of the request; empty when there is none, or more than one.
  static std::string_view given(const Request& request);
  Result<Identity> by_key_hash(const std::string& hash);
  Result<Identity> by_token(std::string_view text);

  struct Known {
    std::optional<ApiKeyRow> row;
    std::chrono::steady_clock::time_point until;
  };
  Store& store_;
  const AccessSettings settings_;
  std::unique_ptr<JwksSource> keys_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // by the secret's hash
};

}  // namespace cairn::server
