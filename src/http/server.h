// HTTP/1.1 on one port. Knows connections, limits and time-outs; what a request means is the
// handler's business. Beast and Asio stay behind this header.
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

namespace cairn::server {

struct KnownCaller;  // identity.h

using Headers = std::vector<std::pair<std::string, std::string>>;  // names in lower case

struct Request {
  Request() {}

  std::string method;                                      // GET, POST, …
  std::string path;                                        // as decode_path gives it, without the query
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in the order given
  Headers headers;
  std::string body;
  std::string peer;     // address of the client
  bool secure = false;  // came over TLS
  BodyShare body_share = {};
  // Who sends it, when that was found out before the body was read.
  std::shared_ptr<const KnownCaller> caller = nullptr;

  // The first value, or empty.
  std::string_view header(std::string_view lower_case_name) const;
  std::string_view query_value(std::string_view name) const;
};

// The rest of an answer that has no end (server-sent events): text, from any thread, until one side
// closes. Copies are the same stream. While nothing is sent, the server keeps the connection alive with
// comments.
class EventStream {
 public:
  struct Line;  // the connection's side of it
  explicit EventStream(std::shared_ptr<Line> line) : line_(std::move(line)) {}

  // False when it is closed: the client has gone, the server drains, or the client reads so slowly that
  // `stream_bytes_max` wait for it already. It comes back with Last-Event-ID.
  bool send(std::string text) const;
  // Whether `send` would accept so many bytes now.
  bool takes(std::size_t bytes) const;
  bool open() const;
  // How much has been sent that the client has not taken yet.
  std::size_t waiting_bytes() const;
  void close() const;
  // Keeps `held` until the stream is closed.
  void hold(std::shared_ptr<void> held) const;
  // Called when the client has taken everything sent so far, from a thread that must not be blocked.
  void on_drained(std::function<void()> drained) const;

 private:
  std::shared_ptr<Line> line_;  // shared by the connection and whoever sends
};

// Whether an answer reached the client's connection. Dropped before that, wherever it is, it calls `undelivered`, so
// that what the answer gave away can be taken back.
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
  std::string_view standing_headers = {};  // lines with CRLF, beside `headers`; of static storage
  std::string body;
  std::shared_ptr<void> held = nullptr;  // kept until the answer is sent; a client that does not read keeps it longer
  // When given, the answer goes on after its head: called once the head is written, from a thread that
  // must not be blocked. `body` is not sent then.
  std::function<void(EventStream)> stream;
  std::shared_ptr<ResponseReceipt> receipt = nullptr;  // shared by copies; absent: nobody asks
};

// Answers one request, once, from any thread, now or later (a long poll). Whoever answers later keeps a
// copy and returns: no thread waits. Dropped without an answer it answers 500, so that no client waits
// for ever.
class Reply {
 public:
  using Send = std::function<void(Response)>;
  explicit Reply(Send send, std::shared_ptr<const std::atomic<bool>> gone = nullptr)
      : send_(std::make_shared<Once>(std::move(send))), gone_(std::move(gone)) {}
  void operator()(Response response) const { send_->send(std::move(response)); }
  // False once the client is known to have gone, or was answered over the handler's head: nothing needs to be fetched
  // for it any more.
  bool listening() const { return (!gone_ || !gone_->load()) && (!ended_ || !ended_->load()); }
  // The same client, answered through `send`, which passes the answer on. `ended` says when somebody else answers.
  Reply through(Send send, std::shared_ptr<const std::atomic<bool>> ended = nullptr) const {
    Reply reply(std::move(send), gone_);
    reply.ended_ = ended ? std::move(ended) : ended_;
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
    std::atomic<bool> answered_{false};  // a revoked credential and the handler may answer at the same moment
  };
  std::shared_ptr<Once> send_;  // shared by the copies that a handler's callbacks hold
  std::shared_ptr<const std::atomic<bool>> gone_;
  std::shared_ptr<const std::atomic<bool>> ended_;
};

using Handler = std::function<void(Request request, Reply reply)>;

// What is decided about a request by its head, before the server waits for its body.
struct Admission {
  Admission() = default;

  std::optional<Response> refusal = std::nullopt;       // then the body is not read
  std::shared_ptr<const KnownCaller> caller = nullptr;  // null: somebody who is not known
};
// Calls `decide` once, now or later, from any thread.
using Admit = std::function<void(const Request& head, std::function<void(Admission)> decide)>;

struct TlsFiles {
  std::string certificate;  // PEM, with the chain
  std::string key;          // PEM
};

struct HttpSettings {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8400;  // 0: any free one
  int threads = 2;
  std::optional<TlsFiles> tls;  // TLS 1.2 or later
  std::size_t head_bytes_max = 16u << 10;
  std::size_t header_bytes_max = 8u << 10;  // one of them
  std::size_t headers_max = 100;
  std::size_t body_bytes_max = 4u << 20;
  std::size_t unknown_body_bytes_max = 64u << 10;  // of a caller who is not known
  std::size_t bodies_bytes_max = 256u << 20;       // of all requests together
  // Asked when a body has not come with its head. Absent: everybody is known.
  Admit admit = {};
  // Told of each request that the connection itself refuses: by which limit, or why.
  std::function<void(std::string_view reason)> refused = {};
  std::size_t connections_max = 10'000;
  std::chrono::milliseconds head_timeout{10'000};  // from the first byte of a request to the end of its head
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds idle_timeout{75'000};  // between requests
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds discard_timeout{10'000};  // for what a refused client still sends
  std::chrono::milliseconds answer_timeout{120'000};  // how long a handler may take, long polls included
  // How long a client that has closed its side still gets its answer; after that it is taken for one that hung up.
  // `watched` ones are missed at once: what is given to them would be lost.
  std::chrono::milliseconds unwatched{250};
  std::function<bool(const Request& request)> watched = {};
  std::chrono::milliseconds stream_beat{15'000};  // silence on a stream before a comment is sent
  std::size_t stream_bytes_max = 1u << 20;        // unread text of one stream
  // From one address that is not this machine; 0: as many as there are.
  std::size_t connections_per_address_max = 1'024;
};

class HttpServer {
 public:
  // Listens at once; ErrorCode::unavailable when the address cannot be had.
  static Result<std::unique_ptr<HttpServer>> listen(const HttpSettings& settings, Handler handler);
  ~HttpServer();  // stops hard

  std::uint16_t port() const;
  std::size_t connections() const;
  // Reads the certificate again; new connections get it. On an error the old one stays.
  Result<void> reload_tls();
  std::size_t body_bytes() const;  // of all requests that are read or carried out
  // From now on every answer closes its connection, so that clients go elsewhere. New connections are still taken.
  void announce_drain();
  // No new connections; requests under way get their answers (at most `grace`), then everything closes. A client
  // whose connection was established gets its answer; `handshakes`: how long one may take to be established.
  void drain(std::chrono::milliseconds grace, std::chrono::milliseconds handshakes = std::chrono::milliseconds(0));

 private:
  struct Core;
  explicit HttpServer(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

// Percent-decoding of a path or of a query part (there `+` is a space). False when malformed or when
// the result is not UTF-8 or contains U+0000.
bool percent_decode(std::string_view text, bool plus_is_space, std::string& out);
// The same for a path, but an encoded slash stays `%2F`, because it separates nothing, and an encoded percent sign
// stays
// `%25`, so that the two can be told apart. `path_value` decodes them in one segment.
bool decode_path(std::string_view text, std::string& out);
std::string path_value(std::string_view segment);

}  // namespace cairn::server
