// Signed tokens (RFC 7519) and their keys (RFC 7517). Only RS256, ES256 and EdDSA are accepted: no shared secrets, and
// a token cannot say where its key is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace cairn::api {

// The public keys of one issuer.
class KeySet {
 public:
  static constexpr std::size_t keys_max = 100;
  // Ignores keys of other kinds. ErrorCode::invalid if the text is not a key set.
  static Result<KeySet> parse(std::string_view jwks);

  struct Key;
  // The key with this id that `algorithm` can use. Without an id: the only key that `algorithm` can use.
  const Key* find(std::string_view id, std::string_view algorithm) const;
  std::size_t size() const { return keys_.size(); }
  // SHA-256 of the key material: a replaced key with the same id has another fingerprint.
  static std::string fingerprint(const Key& key);

 private:
  std::vector<std::shared_ptr<const Key>> keys_;  // shared by the copies of a set
};

struct TokenRules {
  std::string issuer;
  std::string audience;
  Duration skew = Duration::of_seconds(60);
};

struct UnverifiedToken {
  std::string key_id;
  std::string algorithm;
  Json claims;
  std::string signed_part;
  std::string signature;
};

inline constexpr std::size_t token_bytes_max = 8u << 10;

// Checks only the form. Every error is ErrorCode::not_allowed.
Result<UnverifiedToken> parse_token(std::string_view text);
bool verify_signature(const UnverifiedToken& token, const KeySet::Key& key);
// Checks issuer, audience, expiry, not-before and subject.
Result<void> check_claims(const Json& claims, const TokenRules& rules, Timestamp now);

std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace cairn::api
