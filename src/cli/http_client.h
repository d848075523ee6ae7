// HTTP from the command line to a server, over one kept-alive connection.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cairn::cli {

struct HttpCall {
  std::string method;
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

class HttpClient {
 public:
  HttpClient();
  ~HttpClient();

  // ErrorCode::unavailable if the server does not answer; the message says what to check. Follows no redirects.
  Result<HttpAnswer> send(const HttpCall& call);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

// The first line of a file with a credential.
Result<std::string> read_secret_file(const std::string& path);

}  // namespace cairn::cli
