#include "base/ed25519.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::size_t signature_bytes = 64;

using SigningContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

EVP_PKEY* pkey(const std::shared_ptr<void>& key) { return static_cast<EVP_PKEY*>(key.get()); }

const unsigned char* octets(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// Stops OpenSSL from prompting on the terminal for the password of a key.
int no_password(char*, int, int, void*) { return -1; }

template <class Read>
Result<std::shared_ptr<void>> read_pem(std::string_view pem, const char* what, const Read& read) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                       &BIO_free);
  EVP_PKEY* const key = text ? read(text.get()) : nullptr;
  if (key == nullptr) return Error{ErrorCode::invalid, std::string("this is not the PEM text of a ") + what};
  std::shared_ptr<void> held(key, [](void* one) { EVP_PKEY_free(static_cast<EVP_PKEY*>(one)); });
  if (EVP_PKEY_id(key) != EVP_PKEY_ED25519) return Error{ErrorCode::invalid, "the key is not of the kind Ed25519"};
  return held;
}

}  // namespace

Result<Ed25519PublicKey> Ed25519PublicKey::from_pem(std::string_view pem) {
  Ed25519PublicKey key;
  CAIRN_TRY(key.key_, read_pem(pem, "public key",
                               [](BIO* text) { return PEM_read_bio_PUBKEY(text, nullptr, no_password, nullptr); }));
  return key;
}

bool Ed25519PublicKey::verify(std::string_view text, std::string_view signature) const {
  const SigningContext context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  return context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey(key_)) == 1 &&
         EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(text), text.size()) == 1;
}

std::string Ed25519PublicKey::fingerprint() const {
  std::string raw(32, '\0');
  std::size_t size = raw.size();
  CAIRN_ASSERT(EVP_PKEY_get_raw_public_key(pkey(key_), reinterpret_cast<unsigned char*>(raw.data()), &size) == 1);
  return sha256_hex(raw).substr(0, 16);
}

Result<Ed25519PrivateKey> Ed25519PrivateKey::from_pem(std::string_view pem) {
  Ed25519PrivateKey key;
  CAIRN_TRY(key.key_, read_pem(pem, "private key",
                               [](BIO* text) { return PEM_read_bio_PrivateKey(text, nullptr, no_password, nullptr); }));
  return key;
}

Result<Ed25519PrivateKey> Ed25519PrivateKey::generate() {
  EVP_PKEY* const made = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  if (made == nullptr) return Error{ErrorCode::internal, "OpenSSL cannot make a key"};
  Ed25519PrivateKey key;
  key.key_ = std::shared_ptr<void>(made, [](void* held) { EVP_PKEY_free(static_cast<EVP_PKEY*>(held)); });
  return key;
}

std::string Ed25519PrivateKey::sign(std::string_view text) const {
  const SigningContext context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  std::string signature(signature_bytes, '\0');
  std::size_t size = signature.size();
  CAIRN_ASSERT(context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, pkey(key_)) == 1 &&
               EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, octets(text),
                              text.size()) == 1);
  return signature;
}

Ed25519PublicKey Ed25519PrivateKey::public_key() const {
  Ed25519PublicKey key;
  key.key_ = key_;
  return key;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const int high = digit(text[at]);
    const int low = digit(text[at + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return out;
}

}  // namespace cairn
