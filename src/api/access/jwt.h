// Signed tokens (RFC 7519) and the keys that sign them (RFC 7517). RS256, ES256 and EdDSA only: nothing
// that is signed with a shared secret, and nothing in a token says where its key is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace cairn::server {

// The public keys of one issuer.
class KeySet {
 public:
  static constexpr std::size_t keys_max = 100;
  // Keys of other kinds are left out; ErrorCode::invalid when the text is no key set.
  static Result<KeySet> parse(std::string_view jwks);

  struct Key;
  // The key with this id that `algorithm` can use; without an id, the only one that can.
  const Key* find(std::string_view id, std::string_view algorithm) const;
  std::size_t size() const { return keys_.size(); }
  // SHA-256 of the key itself: the same id with another key has another one.
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

// Only its form. Every error is ErrorCode::not_allowed.
Result<UnverifiedToken> parse_token(std::string_view text);
bool verify_signature(const UnverifiedToken& token, const KeySet::Key& key);
// issuer, audience, expiry, not-before and subject.
Result<void> check_claims(const Json& claims, const TokenRules& rules, Timestamp now);

std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace cairn::server
