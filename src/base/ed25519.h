// Ed25519 signatures (OpenSSL's), with keys from PEM files:
//   openssl genpkey -algorithm ed25519 -out audit-key.pem
//   openssl pkey -in audit-key.pem -pubout -out audit-public.pem
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

class Ed25519PublicKey {
 public:
  // Reads the PEM text of a public key. ErrorCode::invalid if the text is not a key or a key of another kind.
  static Result<Ed25519PublicKey> from_pem(std::string_view pem);

  bool verify(std::string_view text, std::string_view signature) const;
  // The first 16 hexadecimal digits of the SHA-256 of the key.
  std::string fingerprint() const;

 private:
  friend class Ed25519PrivateKey;
  std::shared_ptr<void> key_;  // an EVP_PKEY; shared by copies
};

class Ed25519PrivateKey {
 public:
  // Reads the PEM text of a private key without a password. ErrorCode::invalid if it is not a key or of another kind.
  static Result<Ed25519PrivateKey> from_pem(std::string_view pem);

  // A new key. ErrorCode::internal if the system gives no randomness.
  static Result<Ed25519PrivateKey> generate();

  std::string sign(std::string_view text) const;  // 64 bytes
  Ed25519PublicKey public_key() const;

 private:
  std::shared_ptr<void> key_;  // an EVP_PKEY; shared by copies
};

// Decodes hexadecimal text; empty if the text is not hexadecimal.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace cairn
