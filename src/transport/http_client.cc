#include "transport/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "base/log.h"

namespace cairn {

namespace {

using Kind = HttpProblem::Kind;

struct UrlParts {
  std::string scheme;
  std::string host;  // without brackets
  std::uint16_t port = 0;
};

// Read by the reader that will also use it, so that there is only one opinion of what the host is.
Result<UrlParts, HttpProblem> parts_of(CURLU* url) {
  const auto part = [url](CURLUPart what, unsigned flags = 0) {
    char* text = nullptr;
    std::string copy;
    if (curl_url_get(url, what, &text, flags) == CURLUE_OK && text != nullptr) copy = text;
    curl_free(text);
    return copy;
  };
  if (!part(CURLUPART_USER).empty() || !part(CURLUPART_PASSWORD).empty()) {
    return HttpProblem{Kind::denied, "a URL with a user in it"};
  }
  UrlParts parts{part(CURLUPART_SCHEME), part(CURLUPART_HOST), 0};
  const std::string port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::from_chars(port.data(), port.data() + port.size(), parts.port);
  if (parts.host.size() > 2 && parts.host.front() == '[') parts.host = parts.host.substr(1, parts.host.size() - 2);
  if (parts.host.empty() || parts.host.find('%') != std::string::npos) {
    return HttpProblem{Kind::invalid, "the URL has no host that can be called"};
  }
  return parts;
}

void use_curl() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  CAIRN_ASSERT(ready == CURLE_OK);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return out;
}

}  // namespace

// One request on its way.
struct Exchange {
  HttpCall call;
  Duration timeout;
  HttpClient::CheckHost check_host;
  HttpClient::Done done;
  const EgressPolicy* policy = nullptr;
  const HttpLimits* limits = nullptr;

  CURL* easy = nullptr;
  CURLU* url = nullptr;
  curl_slist* headers = nullptr;
  HttpReply reply;
  std::size_t head_bytes = 0;
  bool denied = false;
  bool too_large = false;

  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() {
    if (easy != nullptr) curl_easy_cleanup(easy);
    if (url != nullptr) curl_url_cleanup(url);
    curl_slist_free_all(headers);
  }

  // Everything that can be refused before a packet leaves.
  std::optional<HttpProblem> prepare() {
    url = curl_url();
    if (curl_url_set(url, CURLUPART_URL, call.url.c_str(), 0) != CURLUE_OK) {
      // Unknown schemes end here as well: they are not ours to call.
      const bool other = !call.url.starts_with("http://") && !call.url.starts_with("https://");
      return HttpProblem{other ? Kind::denied : Kind::invalid, "the URL cannot be called"};
    }
    auto parts = parts_of(url);
    if (!parts) return parts.error();
    if (parts->scheme != "https" && parts->scheme != "http") {
      return HttpProblem{Kind::denied, "only https is called, not " + parts->scheme};
    }
    if (parts->scheme == "http" && !policy->allows_plain(parts->host, parts->port)) {
      return HttpProblem{Kind::denied, "http without TLS to " + parts->host +
                                           " is not allowed; allow it with the egress entry http://" + parts->host};
    }
    if (check_host) {
      if (auto allowed = check_host(parts->host); !allowed) return HttpProblem{Kind::denied, allowed.error().message};
    }
    build();
    return std::nullopt;
  }

  void build() {
    easy = curl_easy_init();
    CAIRN_ASSERT(easy != nullptr);
    const auto set = [this](CURLoption option, auto value) {
      const CURLcode done_setting = curl_easy_setopt(easy, option, value);
      CAIRN_ASSERT(done_setting == CURLE_OK);
    };
    set(CURLOPT_CURLU, url);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_PROXY, "");
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_HTTP09_ALLOWED, 0L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(1, timeout.ms_up())));
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::min(timeout, limits->connect_timeout).ms_up()));
    set(CURLOPT_PRIVATE, static_cast<void*>(this));
    set(CURLOPT_OPENSOCKETFUNCTION, &Exchange::open_socket);
    set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
    set(CURLOPT_WRITEFUNCTION, &Exchange::take_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    set(CURLOPT_HEADERFUNCTION, &Exchange::take_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(this));
    for (const auto& [name, value] : call.headers) {
      // A header without a value is written with a semicolon, or libcurl would leave it out.
      headers = curl_slist_append(headers, (value.empty() ? name + ";" : name + ": " + value).c_str());
    }
    headers = curl_slist_append(headers, "Expect:");
    if (!call.has_body) {
      if (call.method == "HEAD") {
        set(CURLOPT_NOBODY, 1L);
      } else if (call.method != "GET") {
        set(CURLOPT_CUSTOMREQUEST, call.method.c_str());
        headers = curl_slist_append(headers, "Content-Length: 0");
      }
    } else {
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
      set(CURLOPT_POSTFIELDS, call.body.c_str());
      set(CURLOPT_CUSTOMREQUEST, call.method.c_str());
    }
    set(CURLOPT_HTTPHEADER, headers);
  }

  // The address that is really connected to. Once one of a name's addresses is refused, the others are too:
  // such a name is up to something.
  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    auto& exchange = *static_cast<Exchange*>(self);
    if (exchange.denied || !exchange.policy->allows(address->addr)) {
      exchange.denied = true;
      return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  }

  static std::size_t take_body(char* data, std::size_t, std::size_t size, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    if (exchange.reply.body.size() + size > exchange.limits->response_bytes_max) {
      exchange.too_large = true;
      return 0;
    }
    exchange.reply.body.append(data, size);
    return size;
  }

  static std::size_t take_header(char* data, std::size_t, std::size_t size, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    exchange.head_bytes += size;
    if (exchange.head_bytes > exchange.limits->response_head_bytes_max) {
      exchange.too_large = true;
      return 0;
    }
    std::string_view line(data, size);
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) exchange.reply.headers.clear();  // after a 100 Continue the real one begins
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    exchange.reply.headers.emplace_back(lower(line.substr(0, colon)), std::string(value));
    return size;
  }

  Result<HttpReply, HttpProblem> outcome(CURLcode code) {
    if (denied) return HttpProblem{Kind::denied, "the address is not one that may be called"};
    if (too_large) return HttpProblem{Kind::too_large, "the response is larger than the limit"};
    switch (code) {
      case CURLE_OK: break;
      case CURLE_OPERATION_TIMEDOUT: return HttpProblem{Kind::timeout, "no complete response in time"};
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_CONNECT: return HttpProblem{Kind::connect, curl_easy_strerror(code)};
      case CURLE_SSL_CONNECT_ERROR:
      case CURLE_PEER_FAILED_VERIFICATION:
        return HttpProblem{Kind::connect, std::string("TLS: ") + curl_easy_strerror(code)};
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_WEIRD_SERVER_REPLY:
      case CURLE_HTTP2:
      case CURLE_BAD_CONTENT_ENCODING: return HttpProblem{Kind::protocol, curl_easy_strerror(code)};
      default: return HttpProblem{Kind::broken, curl_easy_strerror(code)};
    }
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
    if (status < 200 || status > 599) return HttpProblem{Kind::protocol, "the response has no status"};
    return std::move(reply);
  }
};

struct HttpClient::Core {
  Core(EgressPolicy given_policy, HttpLimits given_limits)
      : policy(std::move(given_policy)), limits(given_limits), multi(curl_multi_init()) {
    CAIRN_ASSERT(multi != nullptr);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(limits.in_flight_max));
    thread = std::jthread([this] { run(); });
  }
  ~Core() {
    stop();
    curl_multi_cleanup(multi);
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    curl_multi_wakeup(multi);
    if (thread.joinable()) thread.join();
  }

  void run() {
    for (;;) {
      std::deque<std::unique_ptr<Exchange>> refused;
      {
        const std::lock_guard lock(mutex);
        while (!stopping && !waiting.empty() && in_flight.size() < limits.in_flight_max) {
          std::unique_ptr<Exchange> next = std::move(waiting.front());
          waiting.pop_front();
          curl_multi_add_handle(multi, next->easy);
          in_flight.emplace(next->easy, std::move(next));
        }
        if (stopping) refused.swap(waiting);
      }
      if (stopping) return end_all(refused);
      int running = 0;
      curl_multi_perform(multi, &running);
      collect();
      // A wake-up or a socket ends it early; libcurl shortens it to its own next time-out.
      curl_multi_poll(multi, nullptr, 0, in_flight.empty() ? 60'000 : 1'000, nullptr);
    }
  }

  void collect() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const auto found = in_flight.find(message->easy_handle);
      CAIRN_ASSERT(found != in_flight.end());
      const std::unique_ptr<Exchange> exchange = std::move(found->second);
      const CURLcode code = message->data.result;
      in_flight.erase(found);
      curl_multi_remove_handle(multi, exchange->easy);
      exchange->done(exchange->outcome(code));
    }
  }

  void end_all(std::deque<std::unique_ptr<Exchange>>& refused) {
    for (auto& [easy, exchange] : in_flight) {
      curl_multi_remove_handle(multi, easy);
      refused.push_back(std::move(exchange));
    }
    in_flight.clear();
    for (const auto& exchange : refused) exchange->done(HttpProblem{Kind::overloaded, "the engine is stopping"});
  }

  EgressPolicy policy;
  HttpLimits limits;
  CURLM* multi;
  std::mutex mutex;
  std::deque<std::unique_ptr<Exchange>> waiting;
  std::atomic<bool> stopping = false;
  std::map<CURL*, std::unique_ptr<Exchange>> in_flight;  // of the thread alone
  std::jthread thread;
};

HttpClient::HttpClient(EgressPolicy policy, HttpLimits limits) {
  use_curl();
  core_ = std::make_unique<Core>(std::move(policy), limits);
}

HttpClient::~HttpClient() = default;

void HttpClient::stop() { core_->stop(); }

void HttpClient::send(const HttpCall& call, Duration timeout, CheckHost check_host, Done done) {
  auto exchange = std::make_unique<Exchange>();
  exchange->call = call;
  exchange->timeout = timeout;
  exchange->check_host = std::move(check_host);
  exchange->done = std::move(done);
  exchange->policy = &core_->policy;
  exchange->limits = &core_->limits;
  if (auto problem = exchange->prepare()) return exchange->done(*problem);
  {
    const std::lock_guard lock(core_->mutex);
    if (!core_->stopping && core_->waiting.size() < core_->limits.waiting_max) {
      core_->waiting.push_back(std::move(exchange));
    }
  }
  if (exchange) return exchange->done(HttpProblem{Kind::overloaded, "too many calls wait already"});
  curl_multi_wakeup(core_->multi);
}

}  // namespace cairn
