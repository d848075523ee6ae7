// The part of the HTTP API that a worker needs, one blocking call each.
#pragma once

#include <chrono>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "transport/http_client.h"

namespace cairn::worker {

struct ApiAnswer {
  int status = 0;
  Json document;
  bool ok() const { return status >= 200 && status < 300; }
};

class ApiClient {
 public:
  // Calls whatever address the operator named, private ones too.
  ApiClient(std::string server, std::string token, std::string ca_file);

  // ErrorCode::unavailable when the server cannot be reached, or `stop` was called.
  Result<ApiAnswer> post(const std::string& path, const Json& body, std::chrono::milliseconds timeout);
  // `body` is JSON already.
  Result<ApiAnswer> post_text(const std::string& path, std::string body, std::chrono::milliseconds timeout);
  // Asks nothing more; answers that are on their way still arrive.
  void close_sending() { client_.close_sending(); }
  // Ends calls that are under way.
  void stop() { client_.stop(); }

 private:
  std::string server_;
  std::string token_;
  HttpClient client_;
};

}  // namespace cairn::worker
