// One HTTP request, read from a definition and checked before it is sent. It refuses headers that the client must write
// itself, characters that could end a header line early, and URLs that two parsers could read differently.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "transport/secrets.h"
#include "transport/transport.h"

namespace cairn {

struct HttpCall {
  std::string method = "GET";
  std::string url;  // includes the query
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool has_body = false;
  std::set<int> accepted;  // statuses of 400 and above that are not errors
  bool full_response = false;
};

// `request` is the value of `call.http`, sealed. ErrorCode::invalid names the wrong part and never shows its value.
Result<HttpCall> read_http_call(const Json& request, const TransportCall& call, Unsealing& unsealing);

}  // namespace cairn
