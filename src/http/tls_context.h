// The TLS parameters: version 1.2 or later, forward secrecy, authenticated encryption. Included only by server.cc.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "http/server.h"

namespace cairn::http {

// ErrorCode::invalid names the unusable file.
inline Result<std::shared_ptr<boost::asio::ssl::context>> tls_context(const TlsFiles& files) {
  auto context = std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_cipher_list(native, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  boost::system::error_code failed;
  context->use_certificate_chain_file(files.certificate, failed);
  if (failed)
    return Error{ErrorCode::invalid, "cannot load certificate " + files.certificate + ": " + failed.message()};
  context->use_private_key_file(files.key, boost::asio::ssl::context::pem, failed);
  if (failed) return Error{ErrorCode::invalid, "cannot load private key " + files.key + ": " + failed.message()};
  if (SSL_CTX_check_private_key(native) != 1) {
    return Error{ErrorCode::invalid, "the private key " + files.key + " does not match " + files.certificate};
  }
  return context;
}

}  // namespace cairn::http
