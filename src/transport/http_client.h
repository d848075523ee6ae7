// The one door out: every HTTP request that the engine makes goes through here and under its policy. Many
// requests are under way on one thread. Redirects are not followed, proxies from the environment are not used,
// certificates are verified. libcurl stays behind this header.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "transport/egress_policy.h"
#include "transport/http_call.h"
#include "transport/name_lookup.h"

namespace cairn {

struct HttpLimits {
  Duration connect_timeout = Duration::of_seconds(10);
  std::size_t response_bytes_max = 4u << 20;
  std::size_t response_head_bytes_max = 64u << 10;
  std::size_t in_flight_max = 256;  // the rest waits its turn
  std::size_t waiting_max = 65'536;
};

// What the client takes from its surroundings.
struct HttpSurroundings {
  std::string ca_file;          // PEM: authorities to trust besides the system's
  NameLookup::Resolve resolve;  // asked for every call, instead of the system
};

struct HttpReply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;
};

// Why there is no reply.
struct HttpProblem {
  enum class Kind {
    denied,   // by the policy; nothing was sent
    invalid,  // the URL is not one that can be called; nothing was sent
    connect,  // no connection: DNS, refused, TLS
    timeout,
    too_large,   // body or head of the response
    protocol,    // what came back is not HTTP/1.1 or 2
    broken,      // the connection ended early
    overloaded,  // too many wait already, or the client is stopping
  };
  Kind kind = Kind::broken;
  std::string message;  // without anything that the other side said
};

class HttpClient {
 public:
  using Done = std::function<void(Result<HttpReply, HttpProblem>)>;
  // Asked with the host as it is connected to, before anything is sent.
  using CheckHost = std::function<Result<void>(std::string_view host)>;

  explicit HttpClient(EgressPolicy policy, HttpLimits limits = {}, HttpSurroundings surroundings = {});
  ~HttpClient();

  // Returns at once; `done` is called once, from the client's thread or this one, and must be quick.
  void send(const HttpCall& call, Duration timeout, CheckHost check_host, Done done);
  // Closes the sending half of every connection with a call in flight: the other side sees that no more is asked, and
  // an answer that it has sent already still arrives. Calls that were not sent, and later ones, fail as overloaded.
  void close_sending();
  // Ends what is under way: everyone is answered before this returns, later ones at once.
  void stop();

 private:
  struct Core;
  std::unique_ptr<Core> core_;
};

}  // namespace cairn
