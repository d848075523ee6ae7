// Converts between bytes, Beast's messages and ours. Included only by connection.cc.
#pragma once

#include <boost/beast/http.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/limit_refusals.h"
#include "http/server.h"

namespace cairn::http {

namespace beast_http = boost::beast::http;

// The setting and the value of an exceeded limit. An empty name means none.
struct PassedLimit {
  std::string_view name = {};
  std::size_t value = 0;
};
// An RFC 9457 document for a request that reaches no route. Counts an exceeded limit.
inline Response problem(int status, std::string_view title, PassedLimit passed = {}) {
  std::string text = "{";
  if (!passed.name.empty()) {
    count_limit_refusal(passed.name, static_cast<std::int64_t>(passed.value));
    text += "\"limit\":\"" + std::string(passed.name) + "\",\"limit_value\":" + std::to_string(passed.value) + ",";
  }
  text +=
      "\"status\":" + std::to_string(status) + ",\"title\":\"" + std::string(title) + "\",\"type\":\"about:blank\"}";
  Response response(status, "application/problem+json", {}, std::move(text));
  if (status == 503) response.headers.emplace_back("retry-after", "1");
  return response;
}

// Whether the parser of a body may see what has arrived. A chunked body ends with five bytes, "0\r\n\r\n". Beast
// remembers that it has seen the "0\r\n", and its assertion ends the process if it then sees fewer than five bytes.
template <class Parser>
bool may_parse(const Parser& parser, std::string_view arrived) {
  constexpr std::size_t last_chunk_bytes = 5;
  return parser.chunked() ? arrived.size() >= last_chunk_bytes : !arrived.empty();
}

// Refuses requests that two parsers could read differently.
inline bool ambiguous(const beast_http::request<beast_http::string_body>& message) {
  const auto count = [&](beast_http::field name) {
    const auto [first, last] = message.equal_range(name);
    return std::distance(first, last);
  };
  const bool chunked = message.count(beast_http::field::transfer_encoding) > 0;
  const auto value = [&](beast_http::field name) {
    return std::string_view(message[name].data(), message[name].size());
  };
  if (value(beast_http::field::host).find_first_of(" \t") != std::string_view::npos) return true;
  // Beast reads `5,5` as 5 and ignores other encodings.
  if (value(beast_http::field::content_length).find_first_not_of("0123456789") != std::string_view::npos) return true;
  if (chunked && ascii_lower(value(beast_http::field::transfer_encoding)) != "chunked") return true;
  return (chunked && message.count(beast_http::field::content_length) > 0) ||
         count(beast_http::field::content_length) > 1 || count(beast_http::field::transfer_encoding) > 1 ||
         count(beast_http::field::host) > 1 || (message.version() == 11 && count(beast_http::field::host) != 1) ||
         (chunked && message.version() != 11);
}

// The end of the head in `bytes`, if it is complete. Everything so far is valid unless `bad` is set.
struct Head {
  bool whole = false;
  bool bad = false;  // a line that does not end with CRLF, or a folded line
};
inline Head look_at_head(std::string_view bytes) {
  Head head;
  const std::size_t end = bytes.find("\r\n\r\n");
  head.whole = end != std::string_view::npos;
  const std::string_view lines = bytes.substr(0, head.whole ? end + 2 : bytes.size());
  for (std::size_t at = lines.find('\n'); at != std::string_view::npos; at = lines.find('\n', at + 1)) {
    const bool folded = at + 1 < lines.size() && (lines[at + 1] == ' ' || lines[at + 1] == '\t');
    if (at == 0 || lines[at - 1] != '\r' || folded) head.bad = true;
  }
  return head;
}

// Reads the head of a request; trailers after the body are ignored. Empty if the target is malformed.
inline std::optional<Request> head_of(const beast_http::request<beast_http::string_body>& message) {
  Request request;
  request.method = std::string(message.method_string());
  const std::string_view target(message.target().data(), message.target().size());
  if (target.empty() || target.front() != '/') return std::nullopt;
  const std::size_t mark = target.find('?');
  if (!decode_path(target.substr(0, mark), request.path)) return std::nullopt;
  std::string_view query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    std::string name;
    std::string value;
    if (!percent_decode(part.substr(0, equals), true, name)) return std::nullopt;
    if (equals != std::string_view::npos && !percent_decode(part.substr(equals + 1), true, value)) return std::nullopt;
    request.query.emplace_back(std::move(name), std::move(value));
  }
  for (const auto& field : message) {
    request.headers.emplace_back(ascii_lower({field.name_string().data(), field.name_string().size()}),
                                 std::string(field.value()));
  }
  return request;
}

}  // namespace cairn::http
