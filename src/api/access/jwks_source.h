// The public keys of a token issuer, from a file or a URL. Validation never waits for the network. A thread fetches the
// URL after each `refresh`, and sooner if a token names an unknown key or has a wrong signature. Each fetch replaces
// the whole set, so a removed key is refused and an id may get a new key. A file is read again when it changes. If a
// read fails, the previous keys stay.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "api/access/jwt.h"

namespace cairn::api {

// Fetches a URL: returns the body or an error. It ends early if a stop is requested.
using FetchText = std::function<Result<std::string>(const std::string& url, const std::stop_token& stop)>;
// By https only, from any address; no redirects, at most 1 MiB, 5 s. `ca_file` (PEM) names authorities to trust in
// addition to the system's.
FetchText fetch_over_https(std::string ca_file);

struct JwksPace {
  std::chrono::milliseconds refresh{300'000};     // a removed key is refused after this time at the latest
  std::chrono::milliseconds early_pause{10'000};  // minimum time between a fetch and the next one caused by a token
};

class JwksSource {
 public:
  using Pace = JwksPace;

  // `place` is a path or https://….
  JwksSource(std::string place, FetchText fetch, Pace pace = {});
  ~JwksSource();
  JwksSource(const JwksSource&) = delete;
  JwksSource& operator=(const JwksSource&) = delete;

  // The current set. ErrorCode::unavailable if it is unknown whether the issuer has this key: the first fetch is not
  // finished, or the id is unknown and a fetch is running.
  Result<std::shared_ptr<const KeySet>> keys_for(std::string_view id, std::string_view algorithm);
  // The current set; null if there is none.
  std::shared_ptr<const KeySet> current();
  // Call this after a wrong signature: the issuer may have replaced the key.
  void fetch_soon();

 private:
  using Instant = std::chrono::steady_clock::time_point;
  // Requires the mutex.
  void read_changed_file();
  bool ask_for_fetch(Instant now);  // returns whether a fetch is running or about to start
  void run(const std::stop_token& stop);

  const std::string place_;
  const FetchText fetch_;
  const Pace pace_;
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::shared_ptr<const KeySet> keys_;   // shared with requests in progress; null: not read yet
  std::string why_not_;                  // the last failure
  std::string file_state_ = "not read";  // device, inode, size and time of change
  bool file_stable_ = true;
  bool fetching_ = false;
  bool asked_ = false;
  Instant last_fetch_;
  std::jthread thread_;  // fetches a URL
};

}  // namespace cairn::api
