#include "transport/http_call.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "instance/trace_id.h"

namespace cairn {

namespace {

constexpr std::size_t url_bytes_max = 8192;
constexpr std::size_t headers_max = 100;
constexpr std::size_t header_bytes_max = 16 << 10;

constexpr std::array<std::string_view, 7> methods = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"};
// Headers that the client writes itself, and headers that would change the receiver or the protocol.
constexpr std::array<std::string_view, 13> reserved_headers = {
    "host",    "content-length", "transfer-encoding",   "connection",       "keep-alive",      "upgrade",    "te",
    "trailer", "expect",         "proxy-authorization", "proxy-connection", "idempotency-key", "traceparent"};

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f; });
}

Error wrong(const std::string& message) { return {ErrorCode::invalid, message}; }

std::string scalar_text(const Json& value) {
  return value.is_string() ? std::string(value.as_string()) : write_json(value);
}

std::string percent_encode(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  return out;
}

Result<void> check_url(std::string_view url) {
  if (url.substr(0, url.find('#')).empty()) return wrong("`url` is empty");
  if (url.size() > url_bytes_max) return wrong("`url` is longer than 8192 bytes");
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      return wrong("`url` may contain printable ASCII only; percent-encode the rest, write host names as xn--…");
    }
    if (c == '\\') return wrong("`url` contains a backslash, which some parsers read as a slash; percent-encode it");
  }
  const std::string folded = ascii_lower(url);
  for (const std::string_view bad : {"%0d", "%0a", "%00"}) {
    if (folded.find(bad) != std::string::npos) return wrong("`url` contains an encoded line break or U+0000");
  }
  return {};
}

Result<void> read_query(const Json& query, Unsealing& unsealing, std::string& url) {
  if (query.is_null()) return {};
  if (!query.is_object()) return wrong("`query` must be an object");
  // Append to the part before a fragment. Fragments are never sent.
  url = url.substr(0, url.find('#'));
  for (const Json::Member& member : query.members()) {
    CAIRN_TRY(const std::string name, unsealing.text(member.key.view()));
    const Json::Array several = member.value.is_array() ? member.value.items() : Json::Array{member.value};
    for (const Json& one : several) {
      if (one.is_object() || one.is_array()) {
        return wrong("`query` accepts text, numbers, booleans and lists of them");
      }
      if (one.is_null()) continue;
      CAIRN_TRY(const std::string text, unsealing.text(scalar_text(one)));
      url += url.find('?') == std::string::npos ? "?" : url.back() == '?' || url.back() == '&' ? "" : "&";
      url += percent_encode(name) + "=" + percent_encode(text);
    }
  }
  return {};
}

Result<void> read_headers(const Json& headers, Unsealing& unsealing, HttpCall& call) {
  if (headers.is_null()) return {};
  if (!headers.is_object()) return wrong("`headers` must be an object");
  if (headers.size() > headers_max) return wrong("more than 100 headers");
  for (const Json::Member& member : headers.members()) {
    const std::string name(member.key.view());
    if (!is_token(name)) return wrong("a header has an invalid name");
    if (std::find(reserved_headers.begin(), reserved_headers.end(), ascii_lower(name)) != reserved_headers.end()) {
      return wrong("the header `" + name + "` is set by the client and must not be given");
    }
    if (member.value.is_null()) continue;
    if (member.value.is_object() || member.value.is_array()) return wrong("the header `" + name + "` must be text");
    CAIRN_TRY(std::string value, unsealing.text(scalar_text(member.value)));
    if (has_control(value)) return wrong("the header `" + name + "` contains a control character");
    if (value.size() > header_bytes_max) return wrong("the header `" + name + "` is longer than 16 KiB");
    call.headers.emplace_back(name, std::move(value));
  }
  return {};
}

const std::string* find_header(const HttpCall& call, std::string_view name) {
  for (const auto& [key, value] : call.headers) {
    if (ascii_lower(key) == name) return &value;
  }
  return nullptr;
}

}  // namespace

Result<HttpCall> read_http_call(const Json& request, const TransportCall& call, Unsealing& unsealing) {
  HttpCall http;
  http.method = std::string(request.text_or("method", "GET"));
  if (std::find(methods.begin(), methods.end(), http.method) == methods.end()) {
    return wrong("`method` must be GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS");
  }
  if (!request["url"].is_string()) return wrong("`url` must be text");
  CAIRN_TRY(http.url, unsealing.text(request["url"].as_string()));
  CAIRN_TRY_VOID(read_query(request["query"], unsealing, http.url));
  CAIRN_TRY_VOID(check_url(http.url));
  CAIRN_TRY_VOID(read_headers(request["headers"], unsealing, http));
  if (const Json* const body = request.find("body"); body != nullptr && !body->is_null()) {
    CAIRN_TRY(const Json open, unsealing.value(*body));
    const std::string* const type = find_header(http, "content-type");
    const bool raw = type != nullptr && open.is_string() && type->find("json") == std::string::npos;
    http.body = raw ? std::string(open.as_string()) : write_json(open);
    http.has_body = true;
    if (type == nullptr) http.headers.emplace_back("Content-Type", "application/json");
  }
  if (find_header(http, "accept") == nullptr) http.headers.emplace_back("Accept", "application/json, */*;q=0.5");
  if (find_header(http, "user-agent") == nullptr) http.headers.emplace_back("User-Agent", "cairn");
  if (has_control(call.idempotency_key)) return wrong("the idempotency key contains a control character");
  if (!call.idempotency_key.empty()) http.headers.emplace_back("Idempotency-Key", call.idempotency_key);
  http.headers.emplace_back("traceparent", traceparent_of(call.trace, call.instance, call.run, call.attempt));
  if (const Json& accept = request["accept"]; accept.is_array()) {
    for (const Json& status : accept.items()) {
      if (status.is_integer()) http.accepted.insert(static_cast<int>(status.as_integer()));
    }
  }
  http.full_response = request.text_or("response", "body") == "full";
  return http;
}

}  // namespace cairn
