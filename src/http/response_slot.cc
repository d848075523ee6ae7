#include "http/response_slot.h"

#include <sys/socket.h>

namespace cairn::http {
namespace {

// The connection's thread sends larger answers.
constexpr std::size_t sent_here_max = 64u << 10;

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 207: return "Multi-Status";
    case 303: return "See Other";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 412: return "Precondition Failed";
    case 413: return "Payload Too Large";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Entity";
    case 428: return "Precondition Required";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Status";
  }
}

}  // namespace

// Written by hand into one string: one write, and no message object that allocates every header again.
std::string wire_text(const Response& response, unsigned version, bool keep_alive, bool head) {
  std::size_t length =
      128 + response.content_type.size() + response.standing_headers.size() + (head ? 0 : response.body.size());
  for (const auto& [name, value] : response.headers) length += name.size() + value.size() + 4;
  std::string text;
  text.reserve(length);
  const auto header = [&text](std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
  };
  text.append(version == 10 ? "HTTP/1.0 " : "HTTP/1.1 ").append(std::to_string(response.status));
  text.append(" ").append(reason_of(response.status)).append("\r\n");
  header("content-type", response.content_type);
  for (const auto& [name, value] : response.headers) header(name, value);
  text.append(response.standing_headers);
  if (!keep_alive) {
    header("connection", "close");
  } else if (version == 10) {
    header("connection", "keep-alive");
  }
  // The answer to HEAD has the length of the body that it omits.
  if (response.status != 204 && response.status != 304) header("content-length", std::to_string(response.body.size()));
  text.append("\r\n");
  if (!head) text.append(response.body);
  return text;
}

void ResponseSlot::give(Response response) {
  const std::scoped_lock lock(mutex_);
  if (bell_ == nullptr || progress_ != Progress::waiting) return;
  outgoing_.keep_alive = terms_.keep_alive && !*terms_.leaving;
  if (response.stream && !terms_.head) {
    outgoing_.stream = std::move(response);
  } else {
    std::string text = wire_text(response, terms_.version, outgoing_.keep_alive, terms_.head);
    if (terms_.socket >= 0 && text.size() <= sent_here_max) {
      // The socket stays open: the connection cannot close it before it closes this slot.
      const ssize_t count = ::send(terms_.socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count > 0) outgoing_.sent = static_cast<std::size_t>(count);
      if (outgoing_.sent == text.size() && outgoing_.keep_alive) {
        progress_ = Progress::sent;
        if (response.receipt) response.receipt->done();
        sent_at_ = std::chrono::steady_clock::now();
        if (sent_awaited_) bell_->ring();
        return;
      }
    }
    outgoing_.text = std::move(text);
    outgoing_.receipt = std::move(response.receipt);
    outgoing_.held = std::move(response.held);
  }
  progress_ = Progress::given;
  if (awaited_) bell_->ring();
}

ResponseSlot::Progress ResponseSlot::progress() const {
  const std::scoped_lock lock(mutex_);
  return progress_;
}

ResponseSlot::Progress ResponseSlot::await() {
  const std::scoped_lock lock(mutex_);
  awaited_ = true;
  return progress_;
}

ResponseSlot::Progress ResponseSlot::await_sent() {
  const std::scoped_lock lock(mutex_);
  sent_awaited_ = true;
  return progress_;
}

std::optional<std::chrono::steady_clock::time_point> ResponseSlot::sent_at() const {
  const std::scoped_lock lock(mutex_);
  if (progress_ != Progress::sent) return std::nullopt;
  return sent_at_;
}

ResponseSlot::Outgoing ResponseSlot::take() {
  const std::scoped_lock lock(mutex_);
  return std::move(outgoing_);
}

ResponseSlot::Progress ResponseSlot::close() {
  const std::scoped_lock lock(mutex_);
  bell_ = nullptr;
  gone = true;
  return progress_;
}

}  // namespace cairn::http
