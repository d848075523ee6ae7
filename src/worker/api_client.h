// src/worker is the C++ worker over HTTP behind include/cairn/worker.h. It leases runs from a server, calls the
// program's handlers, sends heartbeats and reports the results. This header is its HTTP client: the part of the API
// that a worker needs, as blocking calls. The module uses base and transport; it knows neither the store nor the
// engine. Read `Worker::start` in worker.cc first.
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
  // May call any address that the operator configured, including private ones.
  ApiClient(std::string server, std::string token, std::string ca_file);

  // ErrorCode::unavailable if the server cannot be reached or `stop` was called, ErrorCode::limit if the answer is too
  // large.
  Result<ApiAnswer> post(const std::string& path, const Json& body, std::chrono::milliseconds timeout);
  // `body` must be JSON text.
  Result<ApiAnswer> post_text(const std::string& path, std::string body, std::chrono::milliseconds timeout);
  // Sends no further requests. Responses in flight still arrive.
  void close_sending() { client_.close_sending(); }
  // Cancels the calls in flight.
  void stop() { client_.stop(); }

 private:
  std::string server_;
  std::string token_;
  HttpClient client_;
};

}  // namespace cairn::worker
