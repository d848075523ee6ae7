#include "cli/http_client.h"

#include <curl/curl.h>

#include <fstream>
#include <mutex>

namespace cairn::cli {
namespace {

constexpr std::size_t answer_bytes_max = 256u << 20;

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* into) {
  auto& body = *static_cast<std::string*>(into);
  if (body.size() + size * count > answer_bytes_max) return 0;
  body.append(data, size * count);
  return size * count;
}

}  // namespace

struct HttpClient::Handle {
  CURL* easy = nullptr;
};

HttpClient::HttpClient() : handle_(std::make_unique<Handle>()) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  handle_->easy = curl_easy_init();
}
HttpClient::~HttpClient() { curl_easy_cleanup(handle_->easy); }

Result<HttpAnswer> HttpClient::send(const HttpCall& call) {
  CURL* easy = handle_->easy;
  if (!easy) return Error{ErrorCode::internal, "libcurl could not be initialized"};
  curl_easy_reset(easy);
  HttpAnswer answer;
  curl_slist* headers = nullptr;
  for (const auto& [name, value] : call.headers) headers = curl_slist_append(headers, (name + ": " + value).c_str());
  headers = curl_slist_append(headers, "Expect:");
  curl_easy_setopt(easy, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 5000L);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 180'000L);
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &answer.body);
  if (!call.body.empty() || call.method == "POST" || call.method == "PATCH" || call.method == "PUT") {
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call.body.c_str());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
  }
  const CURLcode code = curl_easy_perform(easy);
  curl_slist_free_all(headers);
  if (code != CURLE_OK) {
    return Error{ErrorCode::unavailable, "cannot reach " + call.url.substr(0, call.url.find('/', 8)) + ": " +
                                             curl_easy_strerror(code) +
                                             ". Is the server running, and is --server right?"};
  }
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  return answer;
}

Result<std::string> read_secret_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line) || line.empty())
    return Error{ErrorCode::not_found, path + ": contains no credential or cannot be read"};
  if (line.back() == '\r') line.pop_back();
  return line;
}

}  // namespace cairn::cli
