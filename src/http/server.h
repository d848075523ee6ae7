// src/http is the HTTP/1.1 server: one port, its connections, limits and timeouts. It passes each request to a handler
// and knows nothing about workflows. A handler answers through `Reply`, at once or later and from any thread. The
// module uses only base; Beast and Asio are included only by its source files. Read `HttpServer::listen` first, then
// connection.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/body_budget.h"

namespace cairn::http {

struct KnownCaller;  // the user of the server defines it (api/access/identity.h)

using Headers = std::vector<std::pair<std::string, std::string>>;  // names are in lower case

struct Request {
  Request() {}

  std::string method;                                      // GET, POST, …
  std::string path;                                        // as returned by decode_path, without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in the original order
  Headers headers;
  std::string body;
  std::string peer;     // address of the client
  bool secure = false;  // received over TLS
  BodyShare body_share = {};
  // The sender, if it was identified before the body was read.
  std::shared_ptr<const KnownCaller> caller = nullptr;

  // The first value, or empty.
  std::string_view header(std::string_view lower_case_name) const;
  std::string_view query_value(std::string_view name) const;
};

// An answer without an end (server-sent events): text, sent from any thread until one side closes. Copies refer to the
// same stream. While nothing is sent, the server keeps the connection alive with comments.
class EventStream {
 public:
  struct Line;  // the connection's side
  explicit EventStream(std::shared_ptr<Line> line) : line_(std::move(line)) {}

  // Returns false if the stream is closed: the client disconnected, the server drains, or `stream_bytes_max` bytes are
  // unsent because the client reads too slowly. The client reconnects with Last-Event-ID.
  bool send(std::string text) const;
  // Whether `send` would accept this many bytes now.
  bool takes(std::size_t bytes) const;
  bool open() const;
  // How many bytes the client has not received yet.
  std::size_t waiting_bytes() const;
  void close() const;
  // Keeps `held` alive until the stream is closed.
  void hold(std::shared_ptr<void> held) const;
  // Called when the client has received everything sent so far. The calling thread must not be blocked.
  void on_drained(std::function<void()> drained) const;

 private:
  std::shared_ptr<Line> line_;  // shared by the connection and the senders
};

// Tracks whether an answer reached the client's connection. If it is dropped before that, it calls `undelivered`, so
// that leased runs and the like can be taken back.
class ResponseReceipt {
 public:
  explicit ResponseReceipt(std::function<void()> undelivered) : undelivered_(std::move(undelivered)) {}
  ResponseReceipt(const ResponseReceipt&) = delete;
  ResponseReceipt& operator=(const ResponseReceipt&) = delete;
  ~ResponseReceipt() {
    if (undelivered_) undelivered_();
  }
  void done() { undelivered_ = nullptr; }

 private:
  std::function<void()> undelivered_;
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
  std::string_view standing_headers = {};  // lines with CRLF, in addition to `headers`; must have static storage
  std::string body;
  std::shared_ptr<void> held = nullptr;  // kept alive until the answer is sent, even to a slow client
  // If set, the answer continues as a stream after its head. Called after the head is written, from a thread that must
  // not be blocked. `body` is not sent.
  std::function<void(EventStream)> stream;
  bool partial = false;                                // a part failed and may succeed when the request is repeated
  std::shared_ptr<ResponseReceipt> receipt = nullptr;  // shared by copies; null: delivery is not tracked
};

// Answers one request, once, from any thread, now or later (a long poll). A handler that answers later keeps a copy and
// returns; no thread waits. Dropped without an answer it answers 500, so that no client waits for ever.
class Reply {
 public:
  using Send = std::function<void(Response)>;
  explicit Reply(Send send, std::shared_ptr<const std::atomic<bool>> gone = nullptr)
      : send_(std::make_shared<Once>(std::move(send))), gone_(std::move(gone)) {}
  void operator()(Response response) const { send_->send(std::move(response)); }
  // False if the client has disconnected or was answered by another component: the handler need not continue.
  bool listening() const { return (!gone_ || !gone_->load()) && (!ended_ || !ended_->load()); }
  // A Reply for the same client that answers through `send`, which passes the answer on. `ended` becomes true if
  // another component answers.
  Reply through(Send send, std::shared_ptr<const std::atomic<bool>> ended = nullptr) const {
    Reply reply(std::move(send), gone_);
    reply.ended_ = ended ? ended : ended_;
    return reply;
  }

 private:
  struct Once {
    explicit Once(Send send_function) : send_function_(std::move(send_function)) {}
    Once(const Once&) = delete;
    Once& operator=(const Once&) = delete;
    ~Once();
    void send(Response response);
    Send send_function_;
    std::atomic<bool> answered_{false};  // a revoked credential and the handler may answer at the same time
  };
  std::shared_ptr<Once> send_;  // shared by the copies in a handler's callbacks
  std::shared_ptr<const std::atomic<bool>> gone_;
  std::shared_ptr<const std::atomic<bool>> ended_;
};

using Handler = std::function<void(Request request, Reply reply)>;

// The decision about a request by its head, before the server reads the body.
struct Admission {
  Admission() = default;

  std::optional<Response> refusal = std::nullopt;       // if set, the body is not read
  std::shared_ptr<const KnownCaller> caller = nullptr;  // null: an unknown caller
};
// Calls `decide` once, now or later, from any thread.
using Admit = std::function<void(const Request& head, std::function<void(Admission)> decide)>;

struct TlsFiles {
  std::string certificate;  // PEM, with the chain
  std::string key;          // PEM
};

struct HttpSettings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8400;  // 0: any free port
  int threads = 2;
  std::optional<TlsFiles> tls;  // TLS 1.2 or later
  std::size_t head_bytes_max = 16u << 10;
  std::size_t header_bytes_max = 8u << 10;  // for one header
  std::size_t headers_max = 100;
  std::size_t body_bytes_max = 4u << 20;
  std::size_t unknown_body_bytes_max = 64u << 10;  // for unknown callers
  std::size_t bodies_bytes_max = 256u << 20;       // for all requests together
  // Called if a body did not arrive with its head. If absent, every caller counts as known.
  Admit admit = {};
  // Called for each request that the connection itself refuses, with the limit or the reason.
  std::function<void(std::string_view reason)> refused = {};
  std::size_t connections_max = 10'000;
  std::chrono::milliseconds head_timeout{10'000};  // from the first byte of a request to the end of its head
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds idle_timeout{75'000};  // between requests
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds discard_timeout{10'000};  // for reading the remaining data of a refused client
  std::chrono::milliseconds answer_timeout{120'000};  // for a handler, including long polls
  // How long a client that has closed its side still gets its answer; after that it counts as disconnected. For
  // `watched` requests it counts as disconnected at once, because their answers (leases) would be lost.
  std::chrono::milliseconds unwatched{250};
  std::function<bool(const Request& request)> watched = {};
  std::chrono::milliseconds stream_beat{15'000};  // idle time of a stream before a comment is sent
  std::size_t stream_bytes_max = 1u << 20;        // unsent text of one stream
  // Per remote address; 0: unlimited. Connections from this machine do not count.
  std::size_t connections_per_address_max = 1'024;
};

class HttpServer {
 public:
  // Listens at once. ErrorCode::unavailable if the address cannot be bound.
  static Result<std::unique_ptr<HttpServer>> listen(const HttpSettings& settings, Handler handler);
  ~HttpServer();  // closes all connections at once

  std::uint16_t port() const;
  std::size_t connections() const;
  // Reads the certificate again for new connections. On an error the old one stays.
  Result<void> reload_tls();
  std::size_t body_bytes() const;  // of all requests being read or handled
  // From now on every answer closes its connection, so that clients go elsewhere. New connections are still accepted.
  void announce_drain();
  // Accepts no new connections. Requests in progress get their answers (within `grace`); then everything closes.
  // Clients with an established connection get their answer; `handshakes` is how long establishing one may take.
  void drain(std::chrono::milliseconds grace, std::chrono::milliseconds handshakes = std::chrono::milliseconds(0));

 private:
  struct Core;
  explicit HttpServer(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

// Percent-decodes a path or a part of a query (where `+` is a space). Returns false if the text is malformed, or if the
// result is not UTF-8 or contains U+0000.
bool percent_decode(std::string_view text, bool plus_is_space, std::string& out);
// The same for a path, except that an encoded slash stays `%2F`, because it is not a separator, and an encoded percent
// sign stays `%25`, so that both remain distinct. `path_value` decodes them in one segment.
bool decode_path(std::string_view text, std::string& out);
std::string path_value(std::string_view segment);

}  // namespace cairn::http
