#include "transport/http_client.h"

#include <curl/curl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/ascii.h"
#include "base/log.h"

namespace cairn {

namespace {

using Kind = HttpProblem::Kind;
using SteadyTime = std::chrono::steady_clock::time_point;

struct UrlParts {
  std::string scheme;
  std::string host;  // without brackets
  std::uint16_t port = 0;
};

// libcurl's own URL parser, so that the policy and the connection never disagree about the host.
Result<UrlParts, HttpProblem> parts_of(CURLU* url) {
  const auto part = [url](CURLUPart what, unsigned flags = 0) {
    char* text = nullptr;
    std::string copy;
    if (curl_url_get(url, what, &text, flags) == CURLUE_OK && text != nullptr) copy = text;
    curl_free(text);
    return copy;
  };
  if (!part(CURLUPART_USER).empty() || !part(CURLUPART_PASSWORD).empty()) {
    return HttpProblem{Kind::denied, "the URL contains a user name; use a header instead"};
  }
  UrlParts parts{part(CURLUPART_SCHEME), part(CURLUPART_HOST), 0};
  const std::string port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::from_chars(port.data(), port.data() + port.size(), parts.port);
  if (parts.host.size() > 2 && parts.host.front() == '[') parts.host = parts.host.substr(1, parts.host.size() - 2);
  if (parts.host.empty() || parts.host.find('%') != std::string::npos) {
    return HttpProblem{Kind::invalid, "the URL has no valid host"};
  }
  return parts;
}

void use_curl() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  CAIRN_ASSERT(ready == CURLE_OK);
}

}  // namespace

// One request in flight.
struct Exchange {
  HttpCall call;
  Duration timeout;
  HttpClient::CheckHost check_host;
  HttpClient::Done done;
  const EgressPolicy* policy = nullptr;
  const HttpLimits* limits = nullptr;
  const HttpSurroundings* surroundings = nullptr;
  std::set<curl_socket_t>* sockets = nullptr;  // all sockets that the client has open

  CURL* easy = nullptr;
  CURLU* url = nullptr;
  curl_slist* headers = nullptr;
  curl_slist* addresses = nullptr;
  std::string host_name;  // set if the name must be resolved
  std::uint16_t host_port = 0;
  SteadyTime deadline;
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
    curl_slist_free_all(addresses);
  }

  // Takes the resolved addresses. Every address is checked, and the call connects to no other address.
  std::optional<HttpProblem> name_is(const NameLookup::Addresses& found) {
    if (found.empty()) return HttpProblem{Kind::connect, "the host name does not exist"};
    const std::string host = host_name + ":" + std::to_string(host_port);
    std::string known;
    for (const std::string& text : found) {
      const auto address = expr::IpAddress::parse(text);
      if (!address || !policy->allows(*address)) return denial();
      const bool six = text.find(':') != std::string::npos;
      known += (known.empty() ? "" : ",") + (six ? "[" + text + "]" : text);
    }
    // Forget the addresses of an earlier call first.
    addresses = curl_slist_append(addresses, ("-" + host).c_str());
    addresses = curl_slist_append(addresses, (host + ":" + known).c_str());
    return std::nullopt;
  }
  static HttpProblem denial() { return {Kind::denied, "the egress policy does not allow this address"}; }

  // Checks everything that can be refused before a packet is sent.
  std::optional<HttpProblem> prepare() {
    url = curl_url();
    if (curl_url_set(url, CURLUPART_URL, call.url.c_str(), 0) != CURLUE_OK) {
      // Unknown schemes fail here too.
      const bool other = !call.url.starts_with("http://") && !call.url.starts_with("https://");
      return HttpProblem{other ? Kind::denied : Kind::invalid, "the URL is malformed or has an unknown scheme"};
    }
    auto parts = parts_of(url);
    if (!parts) return parts.error();
    if (parts->scheme != "https" && parts->scheme != "http") {
      return HttpProblem{Kind::denied, "only https is allowed, not " + parts->scheme};
    }
    if (parts->scheme == "http" && !policy->allows_plain(parts->host, parts->port)) {
      return HttpProblem{Kind::denied, "http without TLS to " + parts->host +
                                           " is not allowed; allow it with the egress entry http://" + parts->host};
    }
    if (check_host) {
      if (auto allowed = check_host(parts->host); !allowed) return HttpProblem{Kind::denied, allowed.error().message};
    }
    if (!expr::IpAddress::parse(parts->host)) host_name = parts->host;
    host_port = parts->port;
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
    if (!surroundings->ca_file.empty()) set(CURLOPT_CAINFO, surroundings->ca_file.c_str());
    if (addresses != nullptr) set(CURLOPT_RESOLVE, addresses);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_HTTP09_ALLOWED, 0L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    // Name resolution and queueing count towards the timeout of the attempt.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    const std::int64_t left_ms = std::max<std::int64_t>(1, left);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(left_ms));
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::min(left_ms, limits->connect_timeout.ms_up())));
    set(CURLOPT_PRIVATE, static_cast<void*>(this));
    set(CURLOPT_OPENSOCKETFUNCTION, &Exchange::open_socket);
    set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
    set(CURLOPT_CLOSESOCKETFUNCTION, &Exchange::close_socket);
    set(CURLOPT_CLOSESOCKETDATA, static_cast<void*>(sockets));
    set(CURLOPT_WRITEFUNCTION, &Exchange::take_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
    set(CURLOPT_HEADERFUNCTION, &Exchange::take_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(this));
    for (const auto& [name, value] : call.headers) {
      // libcurl drops headers without a value unless they end with a semicolon.
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

  // Checks the address of the actual connection. After one refused address of a name, all its other addresses are
  // refused: such a name is suspicious.
  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    auto& exchange = *static_cast<Exchange*>(self);
    if (exchange.denied || !exchange.policy->allows(address->addr)) {
      exchange.denied = true;
      return CURL_SOCKET_BAD;
    }
    const curl_socket_t opened = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (opened != CURL_SOCKET_BAD) exchange.sockets->insert(opened);
    return opened;
  }

  // Belongs to a connection, which may outlive the exchange that opened it.
  static int close_socket(void* sockets, curl_socket_t closed) {
    static_cast<std::set<curl_socket_t>*>(sockets)->erase(closed);
    return ::close(closed);
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
    if (line.starts_with("HTTP/")) exchange.reply.headers.clear();  // after 100 Continue the final response begins
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return size;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    exchange.reply.headers.emplace_back(ascii_lower(line.substr(0, colon)), std::string(value));
    return size;
  }

  // Why the certificate of the other side was refused.
  std::string distrust() const {
    long result = 0;
    curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &result);
    // libcurl compares the names itself, so OpenSSL has no reason for that.
    if (result == X509_V_OK || result == X509_V_ERR_UNSPECIFIED) return "the certificate is not for " + host_of_url();
    return std::string("the certificate is not trusted: ") + X509_verify_cert_error_string(result);
  }
  std::string host_of_url() const {
    const auto parts = parts_of(url);
    return parts ? parts->host : "this host";
  }

  Result<HttpReply, HttpProblem> outcome(CURLcode code) {
    if (denied) return denial();
    if (too_large) return HttpProblem{Kind::too_large, "the response is larger than the limit"};
    switch (code) {
      case CURLE_OK: break;
      case CURLE_OPERATION_TIMEDOUT: return HttpProblem{Kind::timeout, "timeout: no complete response"};
      case CURLE_COULDNT_RESOLVE_HOST:
      case CURLE_COULDNT_CONNECT: return HttpProblem{Kind::connect, curl_easy_strerror(code)};
      case CURLE_SSL_CONNECT_ERROR:
        return HttpProblem{Kind::connect, "TLS: the handshake failed; the server may not speak TLS on this port"};
      case CURLE_PEER_FAILED_VERIFICATION: return HttpProblem{Kind::connect, "TLS: " + distrust()};
      case CURLE_SSL_CACERT_BADFILE:
        return HttpProblem{Kind::connect, "TLS: the file of authorities cannot be read: " + surroundings->ca_file};
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
  Core(EgressPolicy given_policy, HttpLimits given_limits, HttpSurroundings given_surroundings)
      : policy(std::move(given_policy)),
        limits(given_limits),
        surroundings(std::move(given_surroundings)),
        multi(curl_multi_init()),
        names(surroundings.resolve ? surroundings.resolve : ask_system,
              surroundings.resolve ? NameLookup::Lifetimes() : system_lifetimes,
              [this](std::uint64_t ticket, NameLookup::Addresses found) {
                const std::lock_guard lock(mutex);
                named.emplace_back(ticket, std::move(found));
                curl_multi_wakeup(multi);
              }) {
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
    names.stop();
    curl_multi_wakeup(multi);
    if (thread.joinable()) thread.join();
  }

  // Requires the mutex. Starts the calls whose names were resolved; returns the calls that failed.
  std::vector<std::pair<std::unique_ptr<Exchange>, HttpProblem>> take_names() {
    std::vector<std::pair<std::unique_ptr<Exchange>, HttpProblem>> failed;
    for (const auto& [ticket, found] : std::exchange(named, {})) {
      const auto asked = naming.find(ticket);
      if (asked == naming.end()) continue;  // already timed out
      std::unique_ptr<Exchange> exchange = std::move(asked->second);
      naming.erase(asked);
      if (auto problem = exchange->name_is(found)) {
        failed.emplace_back(std::move(exchange), std::move(*problem));
      } else {
        waiting.push_back(std::move(exchange));
      }
    }
    const SteadyTime now = std::chrono::steady_clock::now();
    for (auto asked = naming.begin(); asked != naming.end();) {
      const auto next = std::next(asked);
      if (asked->second->deadline <= now) {
        failed.emplace_back(std::move(asked->second), HttpProblem{Kind::timeout, "timeout: host name not resolved"});
        naming.erase(asked);
      }
      asked = next;
    }
    return failed;
  }

  // Requires the mutex.
  int patience_ms() const {
    int ms = in_flight.empty() ? 60'000 : 1'000;
    const SteadyTime now = std::chrono::steady_clock::now();
    for (const auto& [ticket, exchange] : naming) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(exchange->deadline - now).count();
      ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, ms));
    }
    return ms;
  }

  void run() {
    for (;;) {
      std::deque<std::unique_ptr<Exchange>> refused;
      std::vector<std::pair<std::unique_ptr<Exchange>, HttpProblem>> failed;
      int patience = 0;
      bool ending = false;  // read once, so that every call queued before the end is refused or answered
      bool closing = false;
      {
        const std::lock_guard lock(mutex);
        ending = stopping;
        closing = sends_no_more;
        failed = take_names();
        while (!ending && !closing && !waiting.empty() && in_flight.size() < limits.in_flight_max) {
          std::unique_ptr<Exchange> next = std::move(waiting.front());
          waiting.pop_front();
          next->build();
          curl_multi_add_handle(multi, next->easy);
          in_flight.emplace(next->easy, std::move(next));
        }
        if (ending || closing) {
          refused.swap(waiting);
          for (auto& [ticket, exchange] : naming) refused.push_back(std::move(exchange));
          naming.clear();
        }
        patience = patience_ms();
      }
      for (auto& [exchange, problem] : failed) exchange->done(std::move(problem));
      if (ending) return end_all(refused);
      if (closing) close_sending(refused);
      int running = 0;
      curl_multi_perform(multi, &running);
      collect();
      // A wake-up or a socket event ends the wait early. libcurl shortens it to its own next timeout.
      curl_multi_poll(multi, nullptr, 0, patience, nullptr);
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

  void close_sending(const std::deque<std::unique_ptr<Exchange>>& refused) const {
    for (const curl_socket_t socket : sockets) ::shutdown(socket, SHUT_WR);
    for (const auto& exchange : refused) exchange->done(HttpProblem{Kind::overloaded, "the client is stopping"});
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
  HttpSurroundings surroundings;
  CURLM* multi;
  std::mutex mutex;
  std::deque<std::unique_ptr<Exchange>> waiting;
  std::map<std::uint64_t, std::unique_ptr<Exchange>> naming;  // calls that wait for name resolution, by ticket
  std::vector<std::pair<std::uint64_t, NameLookup::Addresses>> named;
  std::uint64_t tickets = 0;
  std::atomic<bool> stopping = false;
  std::atomic<bool> sends_no_more = false;
  std::map<CURL*, std::unique_ptr<Exchange>> in_flight;  // used by the thread only
  std::set<curl_socket_t> sockets;                       // used by the thread only
  NameLookup names;
  std::jthread thread;
};

HttpClient::HttpClient(EgressPolicy policy, HttpLimits limits, HttpSurroundings surroundings) {
  use_curl();
  // As in every other program with OpenSSL; libcurl itself ignores the variable.
  const char* const authorities = std::getenv("SSL_CERT_FILE");
  if (surroundings.ca_file.empty() && authorities != nullptr) surroundings.ca_file = authorities;
  core_ = std::make_unique<Core>(std::move(policy), limits, std::move(surroundings));
}

HttpClient::~HttpClient() = default;

void HttpClient::close_sending() {
  core_->sends_no_more = true;
  curl_multi_wakeup(core_->multi);
}

void HttpClient::stop() { core_->stop(); }

void HttpClient::send(const HttpCall& call, Duration timeout, CheckHost check_host, Done done) {
  auto exchange = std::make_unique<Exchange>();
  exchange->call = call;
  exchange->timeout = timeout;
  exchange->check_host = std::move(check_host);
  exchange->done = std::move(done);
  exchange->policy = &core_->policy;
  exchange->limits = &core_->limits;
  exchange->surroundings = &core_->surroundings;
  exchange->sockets = &core_->sockets;
  exchange->deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout.ms_up());
  if (auto problem = exchange->prepare()) return exchange->done(*problem);
  std::uint64_t ticket = 0;
  const std::string name = exchange->host_name;
  {
    std::unique_lock lock(core_->mutex);
    if (core_->stopping || core_->sends_no_more ||
        core_->waiting.size() + core_->naming.size() >= core_->limits.waiting_max) {
      lock.unlock();
      return exchange->done(HttpProblem{Kind::overloaded, "too many calls are waiting"});
    }
    if (name.empty()) {
      core_->waiting.push_back(std::move(exchange));
    } else {
      ticket = ++core_->tickets;
      core_->naming.emplace(ticket, std::move(exchange));
    }
  }
  if (ticket != 0) core_->names.ask(ticket, name);
  curl_multi_wakeup(core_->multi);
}

Result<HttpReply, HttpProblem> HttpClient::send_and_wait(const HttpCall& call, Duration timeout) {
  std::promise<Result<HttpReply, HttpProblem>> reply;
  send(call, timeout, {}, [&reply](Result<HttpReply, HttpProblem> outcome) { reply.set_value(std::move(outcome)); });
  return reply.get_future().get();
}

}  // namespace cairn
