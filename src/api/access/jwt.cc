#include "api/access/jwt.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cmath>

#include "base/sha256.h"

namespace cairn::api {
namespace {

Error refused(const char* why) { return {ErrorCode::not_allowed, why}; }

template <auto free_function>
struct Freed {
  template <class T>
  void operator()(T* pointer) const {
    free_function(pointer);
  }
};
using PublicKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

PublicKey from_parameters(const char* kind, OSSL_PARAM_BLD* builder) {
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    return nullptr;
  }
  return PublicKey(key);
}

PublicKey rsa_key(const std::string& modulus, const std::string& exponent) {
  constexpr std::size_t rsa_bytes_min = 256;
  constexpr std::size_t rsa_bytes_max = 1024;
  if (modulus.size() < rsa_bytes_min || modulus.size() > rsa_bytes_max || exponent.size() > 8) return nullptr;
  const Number n(BN_bin2bn(bytes_of(modulus), static_cast<int>(modulus.size()), nullptr));
  const Number e(BN_bin2bn(bytes_of(exponent), static_cast<int>(exponent.size()), nullptr));
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!n || !e || !builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return nullptr;
  }
  return from_parameters("RSA", builder.get());
}

PublicKey p256_key(const std::string& x, const std::string& y) {
  if (x.size() != 32 || y.size() != 32) return nullptr;
  const std::string point = "\x04" + x + y;
  const Builder builder(OSSL_PARAM_BLD_new());
  if (!builder || OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1) {
    return nullptr;
  }
  return from_parameters("EC", builder.get());
}

// Converts r and s, concatenated as in tokens, to the DER form of OpenSSL.
std::optional<std::string> to_der(const std::string& raw) {
  if (raw.size() != 64) return std::nullopt;
  const std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>> signature(ECDSA_SIG_new());
  Number r(BN_bin2bn(bytes_of(raw), 32, nullptr));
  Number s(BN_bin2bn(bytes_of(raw) + 32, 32, nullptr));
  if (!signature || !r || !s || ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return std::nullopt;
  static_cast<void>(r.release());  // the signature owns them now
  static_cast<void>(s.release());
  unsigned char* der = nullptr;
  const int length = i2d_ECDSA_SIG(signature.get(), &der);
  if (length <= 0) return std::nullopt;
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(length));
  OPENSSL_free(der);
  return out;
}

std::string member(const Json& json, std::string_view name) {
  const auto decoded = base64url_decode(json.text_or(name, ""));
  return decoded ? *decoded : std::string();
}

}  // namespace

struct KeySet::Key {
  std::string id;
  std::string algorithm;
  PublicKey key;
};

Result<KeySet> KeySet::parse(std::string_view jwks) {
  CAIRN_TRY(const Json document, parse_json(jwks));
  if (!document.is_object() || !document["keys"].is_array()) {
    return Error{ErrorCode::invalid, "a key set must be an object with a list \"keys\""};
  }
  KeySet set;
  for (const Json& json : document["keys"].items()) {
    if (!json.is_object() || json.text_or("use", "sig") != "sig") continue;
    if (set.keys_.size() == keys_max) return Error{ErrorCode::limit, "the key set has more than 100 keys"};
    auto key = std::make_shared<Key>();
    key->id = std::string(json.text_or("kid", ""));
    const std::string_view kind = json.text_or("kty", "");
    const std::string_view curve = json.text_or("crv", "");
    if (kind == "RSA") {
      key->algorithm = "RS256";
      key->key = rsa_key(member(json, "n"), member(json, "e"));
    } else if (kind == "EC" && curve == "P-256") {
      key->algorithm = "ES256";
      key->key = p256_key(member(json, "x"), member(json, "y"));
    } else if (kind == "OKP" && curve == "Ed25519") {
      const std::string x = member(json, "x");
      key->algorithm = "EdDSA";
      key->key = PublicKey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(x), x.size()));
    }
    const std::string_view meant = json.text_or("alg", key->algorithm);
    if (key->key && meant == key->algorithm) set.keys_.push_back(std::move(key));
  }
  return set;
}

const KeySet::Key* KeySet::find(std::string_view id, std::string_view algorithm) const {
  const Key* found = nullptr;
  for (const auto& key : keys_) {
    if (key->algorithm != algorithm) continue;
    if (!id.empty()) {
      if (key->id == id) return key.get();
    } else {
      if (found != nullptr) return nullptr;
      found = key.get();
    }
  }
  return found;
}

std::string KeySet::fingerprint(const Key& key) {
  unsigned char* der = nullptr;
  const int length = i2d_PUBKEY(key.key.get(), &der);
  if (length <= 0) return {};
  std::string print = sha256_hex({reinterpret_cast<const char*>(der), static_cast<std::size_t>(length)});
  OPENSSL_free(der);
  return print;
}

std::optional<std::string> base64url_decode(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  // Nonzero padding bits would allow a second spelling of the same token.
  if ((bits & ((1u << count) - 1)) != 0) return std::nullopt;
  return out;
}

Result<UnverifiedToken> parse_token(std::string_view text) {
  if (text.size() > token_bytes_max) return refused("the token is too long");
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos || text.find('.', second + 1) != std::string_view::npos) {
    return refused("the token is not a signed JWT");
  }
  const auto header_text = base64url_decode(text.substr(0, first));
  const auto claims_text = base64url_decode(text.substr(first + 1, second - first - 1));
  auto signature = base64url_decode(text.substr(second + 1));
  if (!header_text || !claims_text || !signature) return refused("the token is not base64url");
  const auto header = parse_json(*header_text);
  auto claims = parse_json(*claims_text);
  if (!header || !claims || !header->is_object() || !claims->is_object()) return refused("the token is not JSON");
  UnverifiedToken token;
  token.algorithm = std::string(header->text_or("alg", ""));
  if (token.algorithm != "RS256" && token.algorithm != "ES256" && token.algorithm != "EdDSA") {
    return refused("the token's algorithm is not one of RS256, ES256, EdDSA");
  }
  if (header->find("crit") != nullptr) return refused("the token has unsupported critical headers");
  if (const Json* type = header->find("cty"); type != nullptr) return refused("the token contains another token");
  const Json* id = header->find("kid");
  if (id != nullptr && !id->is_string()) return refused("the token's key id is not text");
  if (id != nullptr) token.key_id = std::string(id->as_string());
  token.claims = std::move(*claims);
  token.signed_part = std::string(text.substr(0, second));
  token.signature = std::move(*signature);
  return token;
}

bool verify_signature(const UnverifiedToken& token, const KeySet::Key& key) {
  if (key.algorithm != token.algorithm) return false;
  std::string signature = token.signature;
  if (key.algorithm == "ES256") {
    const auto der = to_der(signature);
    if (!der) return false;
    signature = *der;
  }
  const Digest digest(EVP_MD_CTX_new());
  const EVP_MD* const kind = key.algorithm == "EdDSA" ? nullptr : EVP_sha256();
  return digest && EVP_DigestVerifyInit(digest.get(), nullptr, kind, nullptr, key.key.get()) == 1 &&
         EVP_DigestVerify(digest.get(), bytes_of(signature), signature.size(), bytes_of(token.signed_part),
                          token.signed_part.size()) == 1;
}

Result<void> check_claims(const Json& claims, const TokenRules& rules, Timestamp now) {
  const auto seconds = [&claims](std::string_view name) -> std::optional<double> {
    const Json* claim = claims.find(name);
    if (claim == nullptr || !claim->is_number()) return std::nullopt;
    const double value = claim->as_double();
    constexpr double year_9999 = 253'402'300'800;
    if (!std::isfinite(value) || value < 0 || value >= year_9999) return std::nullopt;
    return value;
  };
  if (claims.text_or("iss", "") != rules.issuer) return refused("the token is from another issuer");
  const Json* audience = claims.find("aud");
  bool meant = false;
  if (audience != nullptr && audience->is_array()) {
    for (const Json& one : audience->items()) {
      if (!one.is_string()) return refused("the token's audience is malformed");
      meant = meant || one.as_string() == rules.audience;
    }
  } else if (audience != nullptr && audience->is_string()) {
    meant = audience->as_string() == rules.audience;
  }
  if (!meant) return refused("the token has another audience");
  if (claims.text_or("sub", "").empty()) return refused("the token has no subject");
  const double at = static_cast<double>(now.unix_ms()) / 1000;
  const double skew = static_cast<double>(rules.skew.ms_up()) / 1000;
  const auto expires = seconds("exp");
  if (!expires || *expires + skew <= at) return refused("the token has expired");
  if (claims.find("nbf") != nullptr) {
    const auto from = seconds("nbf");
    if (!from || *from - skew > at) return refused("the token is not valid yet");
  }
  return {};
}

}  // namespace cairn::api
