// The keys of an issuer, from a file or from its URL. They are read again when a token names a key that is
// not there: a file when it has changed, a URL at most once a minute. Until then the old keys stay.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "server/jwt.h"

namespace cairn::server {

// Reads a URL: the body, or why not. No redirects, at most 1 MiB, 5 s.
using FetchText = std::function<Result<std::string>(const std::string& url)>;
Result<std::string> fetch_over_https(const std::string& url);

class JwksSource {
 public:
  static constexpr std::chrono::seconds fetch_pause{60};

  // `place`: a path, or https://… .
  JwksSource(std::string place, FetchText fetch) : place_(std::move(place)), fetch_(std::move(fetch)) {}

  // The set that may have this key: the one at hand, or a newer one.
  Result<KeySet> keys_for(std::string_view id, std::string_view algorithm);

 private:
  Result<void> read_again();

  const std::string place_;
  const FetchText fetch_;
  std::mutex mutex_;
  KeySet keys_;
  bool read_ = false;
  std::chrono::steady_clock::time_point last_try_;
  std::int64_t file_changed_ = 0;  // its time of change, in nanoseconds
};

}  // namespace cairn::server
