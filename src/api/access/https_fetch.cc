#include "api/access/jwks_source.h"
#include "transport/http_client.h"

namespace cairn::api {

FetchText fetch_over_https(std::string ca_file) {
  return [ca_file = std::move(ca_file)](const std::string& url, const std::stop_token& stop) -> Result<std::string> {
    if (!url.starts_with("https://")) return Error{ErrorCode::invalid, "the URL does not begin with https://"};
    HttpLimits limits;
    limits.connect_timeout = Duration::of_seconds(3);
    limits.response_bytes_max = 1u << 20;
    // The operator named the issuer, so it may be on any network.
    HttpClient client(EgressPolicy::everywhere(), limits, HttpSurroundings{ca_file, {}});
    // A server that stops does not wait for an issuer that does not answer.
    const std::stop_callback ending(stop, [&client] { client.stop(); });
    HttpCall call;
    call.url = url;
    auto reply = client.send_and_wait(call, Duration::of_seconds(5));
    if (!reply) return Error{ErrorCode::unavailable, reply.error().message};
    if (reply->status != 200) {
      return Error{ErrorCode::unavailable, "the server answered " + std::to_string(reply->status)};
    }
    return std::move(reply->body);
  };
}

}  // namespace cairn::api
