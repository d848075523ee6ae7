#include "base/utf8.h"
#include "server/http_server.h"

namespace cairn::server {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::string_view Request::query_value(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

Reply::Once::~Once() {
  if (send_function_ && !answered_) {
    send_function_({500, "application/problem+json", {}, R"({"status":500,"title":"The server gave no answer"})"});
  }
}

void Reply::Once::send(Response response) {
  // Answering twice would be two answers to one request.
  if (answered_.exchange(true)) return;
  const Send send_function = std::exchange(send_function_, nullptr);
  if (send_function) send_function(std::move(response));
}

bool percent_decode(std::string_view text, bool plus_is_space, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
      if (low < 0) return false;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out.find('\0') == std::string::npos && is_utf8(out);
}

}  // namespace cairn::server
