#include "base/utf8.h"
#include "http/server.h"

namespace cairn::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Encoded characters of `kept` stay encoded, in upper case.
bool decode(std::string_view text, bool plus_is_space, std::string_view kept, std::string& out) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(plus_is_space && text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) return false;
    const char decoded = static_cast<char>(high * 16 + low);
    if (kept.find(decoded) == std::string_view::npos) {
      out.push_back(decoded);
    } else {
      out.push_back('%');
      out.push_back(digits[static_cast<std::size_t>(high)]);
      out.push_back(digits[static_cast<std::size_t>(low)]);
    }
    i += 2;
  }
  return out.find('\0') == std::string::npos && is_utf8(out);
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
  // A second answer to one request is dropped.
  if (answered_.exchange(true)) return;
  const Send send_function = std::exchange(send_function_, nullptr);
  if (send_function) send_function(std::move(response));
}

bool percent_decode(std::string_view text, bool plus_is_space, std::string& out) {
  return decode(text, plus_is_space, {}, out);
}

bool decode_path(std::string_view text, std::string& out) { return decode(text, false, "/%", out); }

std::string path_value(std::string_view segment) {
  std::string value;
  for (std::size_t at = 0; at < segment.size(); ++at) {
    if (segment[at] != '%') {
      value.push_back(segment[at]);
      continue;
    }
    value.push_back(segment.substr(at, 3) == "%2F" ? '/' : '%');
    at += 2;
  }
  return value;
}

}  // namespace cairn::http
