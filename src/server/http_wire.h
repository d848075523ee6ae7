// One connection's bytes, with or without TLS, as Beast wants to read and write them. Included only by
// http_server.cc.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace cairn::server {

class Wire {
 public:
  using executor_type = boost::beast::tcp_stream::executor_type;
  using Tls = boost::asio::ssl::stream<boost::beast::tcp_stream&>;

  // `context` when the connection speaks TLS; a connection keeps the certificate it began with.
  Wire(boost::asio::ip::tcp::socket socket, std::shared_ptr<boost::asio::ssl::context> context)
      : plain_(std::move(socket)), context_(std::move(context)) {
    if (context_) tls_.emplace(plain_, *context_);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  executor_type get_executor() { return plain_.get_executor(); }
  boost::asio::ip::tcp::socket& socket() { return plain_.socket(); }
  boost::beast::tcp_stream& plain() { return plain_; }
  bool secure() const { return tls_.has_value(); }
  // Expires with the wire: a handler that was already on its way when it ended must not touch it.
  std::weak_ptr<const bool> alive() const { return alive_; }
  Tls& tls() { return *tls_; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        [this](auto handler, const Buffers& into) {
          if (tls_) {
            tls_->async_read_some(into, std::move(handler));
          } else {
            plain_.async_read_some(into, std::move(handler));
          }
        },
        token, buffers);
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
        [this](auto handler, const Buffers& from) {
          if (tls_) {
            tls_->async_write_some(from, std::move(handler));
          } else {
            plain_.async_write_some(from, std::move(handler));
          }
        },
        token, buffers);
  }

 private:
  boost::beast::tcp_stream plain_;
  std::shared_ptr<boost::asio::ssl::context> context_;  // shared with the connections of the same certificate
  std::optional<Tls> tls_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);  // the handlers hold weak ones
};

}  // namespace cairn::server
