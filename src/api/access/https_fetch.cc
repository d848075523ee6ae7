#include <curl/curl.h>

#include <memory>
#include <mutex>

#include "api/access/jwks_source.h"

namespace cairn::api {
namespace {

constexpr std::size_t answer_bytes_max = 1u << 20;

std::size_t take(char* data, std::size_t size, std::size_t count, void* into) {
  auto& text = *static_cast<std::string*>(into);
  if (text.size() + size * count > answer_bytes_max) return 0;  // makes curl abort
  text.append(data, size * count);
  return size * count;
}

}  // namespace

Result<std::string> fetch_over_https(const std::string& url) {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), curl_easy_cleanup);
  if (!handle) return Error{ErrorCode::internal, "curl could not be initialized"};
  std::string text;
  curl_easy_setopt(handle.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle.get(), CURLOPT_PROTOCOLS_STR, "https");
  curl_easy_setopt(handle.get(), CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle.get(), CURLOPT_CONNECTTIMEOUT, 3L);
  curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT, 5L);
  curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &text);
  const CURLcode code = curl_easy_perform(handle.get());
  long status = 0;
  curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
  if (code != CURLE_OK) return Error{ErrorCode::unavailable, std::string(curl_easy_strerror(code))};
  if (status != 200) return Error{ErrorCode::unavailable, "the server answered " + std::to_string(status)};
  return text;
}

}  // namespace cairn::api
