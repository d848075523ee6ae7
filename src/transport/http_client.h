// The only HTTP client of the engine. Every outgoing request passes through it and is subject to its egress policy. One
// thread runs many requests at once. The client follows no redirects, ignores proxies from the environment and verifies
// certificates. Only http_client.cc knows libcurl.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/name_lookup.h"
#include "base/result.h"
#include "base/time.h"
#include "transport/egress_policy.h"
#include "transport/http_call.h"

namespace cairn {

struct HttpLimits {
  Duration connect_timeout = Duration::of_seconds(10);
  std::size_t response_bytes_max = 4u << 20;
  std::size_t response_head_bytes_max = 64u << 10;
  std::size_t in_flight_max = 256;  // more requests wait in a queue
  std::size_t waiting_max = 65'536;
};

// What the client takes from its environment.
struct HttpSurroundings {
  std::string ca_file;          // PEM: authorities to trust in addition to the system's; empty: $SSL_CERT_FILE
  NameLookup::Resolve resolve;  // replaces the system's resolver; called for every call
};

struct HttpReply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names are in lower case
  std::string body;
};

// Why there is no reply.
struct HttpProblem {
  enum class Kind {
    denied,   // refused by the policy; nothing was sent
    invalid,  // the URL cannot be called; nothing was sent
    connect,  // no connection: DNS, refused, TLS
    timeout,
    too_large,   // body or headers of the response
    protocol,    // the response is not HTTP/1.1 or HTTP/2
    broken,      // the connection closed early
    overloaded,  // the queue is full, or the client is stopping
  };
  Kind kind = Kind::broken;
  std::string message;  // contains nothing that the other side sent
};

class HttpClient {
 public:
  using Done = std::function<void(Result<HttpReply, HttpProblem>)>;
  // Called with the host of the connection before anything is sent.
  using CheckHost = std::function<Result<void>(std::string_view host)>;

  explicit HttpClient(EgressPolicy policy, HttpLimits limits = {}, HttpSurroundings surroundings = {});
  ~HttpClient();

  // Returns at once. The client calls `done` once, from its own thread or from this one; `done` must not block.
  void send(const HttpCall& call, Duration timeout, CheckHost check_host, Done done);
  // The same, and waits for the reply. Not for the client's own thread.
  Result<HttpReply, HttpProblem> send_and_wait(const HttpCall& call, Duration timeout);
  // Closes the sending half of every connection with a call in flight. The other side sees that no further requests
  // follow, and responses already sent still arrive. Calls that were not sent yet, and later calls, fail as overloaded.
  void close_sending();
  // Cancels the calls in flight. Every `done` has been called before this returns; later calls fail at once.
  void stop();

 private:
  struct Core;
  std::unique_ptr<Core> core_;
};

}  // namespace cairn
