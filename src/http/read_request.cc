// g++ 12 frees temporary aggregates and capturing lambdas twice inside a co_await expression. Give them a name first.
// Reads one request from a connection: its head, the admission of its caller, then its body, each within its limits.
#include <boost/beast/http.hpp>

#include "base/ascii.h"
#include "base/limit_refusals.h"
#include "http/connection.h"
#include "http/translation.h"

namespace cairn::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kept_while_idle = 4u << 10;
constexpr std::size_t unread_max = 64u << 10;  // of a body: chunk lengths and chunk extensions
// How much of a refused body is read, in multiples of the limit. A client that exceeds the limit by less than this
// still receives the error.
constexpr std::size_t discarded_bodies = 4;

// The refusal of a request before it reaches a handler.
struct Refusal {
  int status = 400;
  const char* title = "The request is not valid HTTP";
  const char* reason = "malformed";
  PassedLimit passed = {};
};

Response answer_to(const Refusal& refusal) { return problem(refusal.status, refusal.title, refusal.passed); }

Refusal too_large(const HttpSettings& settings) {
  return {431, "The request head is larger than the limit", "head_bytes",
          PassedLimit{"http.head_bytes_max", settings.head_bytes_max}};
}

Refusal body_too_large(std::size_t bytes_max, bool known_caller) {
  return {413, "The body is larger than the limit", "body_bytes",
          PassedLimit{known_caller ? "http.body_bytes_max" : "http.unknown_body_bytes_max", bytes_max}};
}

Refusal no_memory(const HttpSettings& settings) {
  return {503, "The bodies of other requests use all memory for request bodies", "bodies_bytes",
          PassedLimit{"http.bodies_bytes_max", settings.bodies_bytes_max}};
}

// Refuses requests that two parsers could read differently.
std::optional<Refusal> refusal_of(const beast_http::request<beast_http::string_body>& message,
                                  const HttpSettings& settings) {
  std::size_t headers = 0;
  for (const auto& field : message) {
    if (++headers > settings.headers_max) {
      return Refusal{431, "The request has too many headers", "headers",
                     PassedLimit{"http.headers_max", settings.headers_max}};
    }
    if (field.name_string().size() + field.value().size() > settings.header_bytes_max) {
      return Refusal{431, "A header is larger than the limit", "header_bytes",
                     PassedLimit{"http.header_bytes_max", settings.header_bytes_max}};
    }
  }
  if (ambiguous(message)) return Refusal{400, "The request is ambiguous"};
  return std::nullopt;
}

Refusal refusal_of(error_code why, const HttpSettings& settings) {
  if (why == beast_http::error::body_limit) return body_too_large(settings.body_bytes_max, true);
  if (why == beast_http::error::header_limit || why == beast_http::error::buffer_overflow) return too_large(settings);
  return {};
}

// Receives the admission decision for a head, from any thread, even after the connection is gone.
class PendingAdmission {
 public:
  explicit PendingAdmission(ResponseSlot::Bell& bell) : bell_(&bell) {}

  void give(Admission admission) {
    const std::scoped_lock lock(mutex_);
    if (bell_ == nullptr || given_) return;
    given_ = std::move(admission);
    if (awaited_) bell_->ring();
  }
  // Empty if there is no decision yet; then the bell rings when it arrives.
  std::optional<Admission> take() {
    const std::scoped_lock lock(mutex_);
    awaited_ = true;
    return std::exchange(given_, std::nullopt);
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    bell_ = nullptr;
  }

 private:
  std::mutex mutex_;
  ResponseSlot::Bell* bell_;  // null: closed
  bool awaited_ = false;
  std::optional<Admission> given_;
};

}  // namespace

// Beast accepts folded header lines, which other parsers read differently.
HeadEnd Connection::head_so_far() const {
  const Head head = look_at_head(input_);
  if (head.bad) return HeadEnd::bad;
  if (head.whole) return HeadEnd::whole;
  return input_.size() > context_.settings.head_bytes_max ? HeadEnd::too_large : HeadEnd::open;
}

Steps<HeadEnd> Connection::read_head() {
  for (;;) {
    if (!co_await receive()) co_return HeadEnd::over;
    if (const HeadEnd end = head_so_far(); end != HeadEnd::open) co_return end;
  }
}

// A body in progress.
struct Connection::Body {
  beast_http::request_parser<beast_http::string_body>& parser;
  Request& request;
  std::size_t bytes_max = 0;
  bool known_caller = false;
};

Steps<std::optional<Request>> Connection::read_request() {
  const HttpSettings& settings = context_.settings;
  version_ = 11;
  head_ = false;
  if (input_.empty()) {
    if (input_.capacity() > kept_while_idle) std::string().swap(input_);
    expect_until(settings.idle_timeout);
    if (context_.draining) expect_at_most(context_.farewell);
    between_requests_ = true;
    const bool received = co_await receive();
    between_requests_ = false;
    if (!received) co_return std::nullopt;
  }
  had_request_ = true;
  expect_until(settings.head_timeout);
  HeadEnd end = head_so_far();
  if (end == HeadEnd::open) end = co_await read_head();
  if (end == HeadEnd::over) {
    if (timed_out_) count_limit_refusal("http.head_timeout", settings.head_timeout.count());
    co_return std::nullopt;
  }
  beast_http::request_parser<beast_http::string_body> parser;
  parser.header_limit(static_cast<std::uint32_t>(settings.head_bytes_max));
  parser.body_limit(boost::none);
  error_code failed;
  if (end == HeadEnd::bad) failed = beast_http::make_error_code(beast_http::error::bad_field);
  if (end == HeadEnd::too_large) failed = beast_http::make_error_code(beast_http::error::header_limit);
  if (!failed) input_.erase(0, parser.put(asio::buffer(input_), failed));
  if (!failed && !parser.is_header_done()) failed = beast_http::make_error_code(beast_http::error::bad_field);
  std::optional<Refusal> refusal;
  std::optional<Request> request;
  if (failed) {
    refusal = refusal_of(failed, settings);
  } else {
    refusal = refusal_of(parser.get(), settings);
  }
  if (!refusal) {
    request = head_of(parser.get());
    if (!request) refusal = Refusal{400, "The target is malformed"};
  }
  if (refusal) {
    Response response = answer_to(*refusal);
    co_await refuse(std::move(response), refusal->reason, settings.unknown_body_bytes_max);
    co_return std::nullopt;
  }
  head_ = parser.get().method() == beast_http::verb::head;
  version_ = parser.get().version();
  keep_alive_ = parser.get().keep_alive();
  request->peer = peer_;
  request->secure = tls_.has_value();
  if (!parser.is_done()) {
    Body body{parser, *request, settings.body_bytes_max, true};
    if (!co_await read_body(body)) co_return std::nullopt;
    request->body = std::move(parser.get().body());
  }
  co_return request;
}

Steps<bool> Connection::read_body(Body& body) {
  const HttpSettings& settings = context_.settings;
  beast_http::request_parser<beast_http::string_body>& parser = body.parser;
  BodyShare& share = body.request.body_share;
  share = BodyShare(context_.bodies);
  const auto length = parser.content_length();
  expect_until(settings.body_timeout);
  bool asked = length && *length > settings.unknown_body_bytes_max;
  if (asked && !co_await ask_admission(body)) co_return false;
  parser.eager(true);
  parser.body_limit(settings.body_bytes_max);
  for (bool ended = false;;) {
    error_code failed;
    if (may_parse(parser, input_)) input_.erase(0, parser.put(asio::buffer(input_), failed));
    if (failed == beast_http::error::need_more) failed = {};
    if (!failed && !parser.is_done() && input_.size() > unread_max) {
      failed = beast_http::make_error_code(beast_http::error::buffer_overflow);
    }
    if (!failed && !parser.is_done() && ended) failed = beast_http::make_error_code(beast_http::error::partial_message);
    const std::size_t size = parser.get().body().size();
    std::optional<Refusal> refusal;
    if (failed) {
      refusal = refusal_of(failed, settings);
    } else if (size > body.bytes_max) {
      refusal = body_too_large(body.bytes_max, body.known_caller);
    } else if (!share.grow_to(parser.is_done() ? size : size + input_.size(), body.known_caller)) {
      refusal = no_memory(settings);
    }
    if (refusal) {
      Response response = answer_to(*refusal);
      const std::size_t bytes_max =
          asked && body.known_caller ? discarded_bodies * settings.body_bytes_max : settings.unknown_body_bytes_max;
      co_await refuse(std::move(response), refusal->reason, ended ? 0 : bytes_max);
      co_return false;
    }
    if (parser.is_done()) co_return true;
    if (!asked) {
      asked = true;
      if (!co_await ask_admission(body)) co_return false;
    }
    if (!co_await receive()) {
      if (timed_out_) {
        count_limit_refusal("http.body_timeout", settings.body_timeout.count());
        co_return false;
      }
      ended = true;  // a client that has only closed its own side still receives the error
    }
  }
}

Steps<bool> Connection::ask_admission(Body& body) {
  const HttpSettings& settings = context_.settings;
  if (settings.admit) {
    const ClosedAtTheEnd<PendingAdmission> pending(std::make_shared<PendingAdmission>(*this));
    std::function<void(Admission)> decide = [decision = pending.shared](Admission admission) {
      decision->give(std::move(admission));
    };
    settings.admit(body.request, std::move(decide));
    std::optional<Admission> admission = pending.shared->take();
    while (!admission) {
      co_await Pause{*this, Waits::turn};
      admission = pending.shared->take();
      if (!admission && timed_out_) co_return false;
    }
    if (admission->refusal) {
      co_await refuse(std::move(*admission->refusal), {}, settings.unknown_body_bytes_max);
      co_return false;
    }
    body.request.caller = std::move(admission->caller);
    body.known_caller = body.request.caller != nullptr;
    if (!body.known_caller) body.bytes_max = std::min(body.bytes_max, settings.unknown_body_bytes_max);
  }
  std::optional<Refusal> refusal;
  const auto length = body.parser.content_length();
  if (length && *length > body.bytes_max) {
    refusal = body_too_large(body.bytes_max, body.known_caller);
  } else if (length && !body.request.body_share.grow_to(*length, body.known_caller)) {
    refusal = no_memory(settings);
  }
  if (refusal) {
    Response response = answer_to(*refusal);
    co_await refuse(std::move(response), refusal->reason,
                    body.known_caller ? discarded_bodies * settings.body_bytes_max : settings.unknown_body_bytes_max);
    co_return false;
  }
  const auto expected = body.parser.get()[beast_http::field::expect];
  if (!expected.empty() && ascii_lower(std::string_view(expected.data(), expected.size())) == "100-continue") {
    if (!co_await send("HTTP/1.1 100 Continue\r\n\r\n")) co_return false;
  }
  expect_until(settings.body_timeout);
  co_return true;
}

}  // namespace cairn::http
