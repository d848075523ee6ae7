// HTTP/1.1 on one port. Knows connections, limits and time-outs; what a request means is the
// handler's business. Beast and Asio stay behind this header.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cairn::server {

using Headers = std::vector<std::pair<std::string, std::string>>;  // names in lower case

struct Request {
  Request() {}

  std::string method;                                      // GET, POST, …
  std::string path;                                        // decoded, without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in the order given
  Headers headers;
  std::string body;
  std::string peer;  // address of the client

  // The first value, or empty.
  std::string_view header(std::string_view lower_case_name) const;
  std::string_view query_value(std::string_view name) const;
};

struct Response {
  // Constructors, because g++ 12 frees a temporary aggregate twice inside a co_await expression.
  Response() = default;
  Response(int with_status, std::string with_type, Headers with_headers, std::string with_body)
      : status(with_status),
        content_type(std::move(with_type)),
        headers(std::move(with_headers)),
        body(std::move(with_body)) {}

  int status = 200;
  std::string content_type = "application/json";
  Headers headers;
  std::string body;
};

// Answers one request, once, from any thread, now or later (a long poll). Dropped without an
// answer it answers 500, so that no client waits for ever.
class Reply {
 public:
  using Send = std::function<void(Response)>;
  explicit Reply(Send send) : send_(std::make_shared<Once>(std::move(send))) {}
  void operator()(Response response) const { send_->send(std::move(response)); }

 private:
  struct Once {
    explicit Once(Send send_function) : send_function_(std::move(send_function)) {}
    Once(const Once&) = delete;
    Once& operator=(const Once&) = delete;
    ~Once();
    void send(Response response);
    Send send_function_;
  };
  std::shared_ptr<Once> send_;  // shared by the copies that a handler's callbacks hold
};

using Handler = std::function<void(Request request, Reply reply)>;

struct HttpSettings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8400;  // 0: any free one
  int threads = 2;
  std::size_t head_bytes_max = 16u << 10;
  std::size_t body_bytes_max = 4u << 20;
  std::size_t connections_max = 10'000;
  std::chrono::milliseconds head_timeout{10'000};  // from the first byte of a request to the end of its head
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds idle_timeout{75'000};  // between requests
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds answer_timeout{120'000};  // how long a handler may take, long polls included
};

class HttpServer {
 public:
  // Listens at once; ErrorCode::unavailable when the address cannot be had.
  static Result<std::unique_ptr<HttpServer>> listen(const HttpSettings& settings, Handler handler);
  ~HttpServer();  // stops hard

  std::uint16_t port() const;
  // No new connections; requests under way get their answers (at most `grace`), then everything closes.
  void drain(std::chrono::milliseconds grace);

 private:
  struct Core;
  explicit HttpServer(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

// Percent-decoding of a path or of a query part (there `+` is a space). False when malformed or when
// the result is not UTF-8 or contains U+0000.
bool percent_decode(std::string_view text, bool plus_is_space, std::string& out);

}  // namespace cairn::server
