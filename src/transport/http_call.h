// One HTTP request, read from what a definition asks for and checked before anything is sent: no header that
// the client itself must write, nothing that could end a line early, no URL that two readers read in two ways.
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
  std::string url;  // with its query
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool has_body = false;
  std::set<int> accepted;  // statuses of 400 and above that are no error
  bool full_response = false;
};

// `request` as in `call.http`, sealed. ErrorCode::invalid names what is wrong with it, never a value of it.
Result<HttpCall> read_http_call(const Json& request, const TransportCall& call, Unsealing& unsealing);

}  // namespace cairn
