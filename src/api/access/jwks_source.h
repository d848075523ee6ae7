// The public keys of an issuer, from a file or from its URL. Validation never waits for the network: one thread
// fetches the URL again after `refresh`, and sooner when a token names an unknown key or has a wrong signature. Each
// answer replaces the whole set, so that a removed key is refused and a known id may get another key. A file is read
// again whenever it has changed. If the keys cannot be read, the last ones stay.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "api/access/jwt.h"

namespace cairn::server {

// Reads a URL: the body, or why not. No redirects, at most 1 MiB, 5 s.
using FetchText = std::function<Result<std::string>(const std::string& url)>;
Result<std::string> fetch_over_https(const std::string& url);

struct JwksPace {
  std::chrono::milliseconds refresh{300'000};     // a removed key is refused after this time at the latest
  std::chrono::milliseconds early_pause{10'000};  // between a fetch and the next one that a token causes
};

class JwksSource {
 public:
  using Pace = JwksPace;

  // `place`: a path, or https://… .
  JwksSource(std::string place, FetchText fetch, Pace pace = {});
  ~JwksSource();
  JwksSource(const JwksSource&) = delete;
  JwksSource& operator=(const JwksSource&) = delete;

  // The current set. ErrorCode::unavailable when it is not known yet whether the issuer has this key: the first fetch
  // is not over, or the id is unknown and the keys are being fetched again.
  Result<std::shared_ptr<const KeySet>> keys_for(std::string_view id, std::string_view algorithm);
  // The current set; null when there is none.
  std::shared_ptr<const KeySet> current();
  // A signature did not fit the known key: the issuer may have replaced it.
  void fetch_soon();

 private:
  using Instant = std::chrono::steady_clock::time_point;
  // With the mutex.
  void read_changed_file();
  bool ask_for_fetch(Instant now);  // whether a fetch is under way or about to begin
  void run(const std::stop_token& stop);

  const std::string place_;
  const FetchText fetch_;
  const Pace pace_;
  std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::shared_ptr<const KeySet> keys_;   // shared with requests under way; null: not read yet
  std::string why_not_;                  // the last failure
  std::string file_state_ = "not read";  // device, inode, size and time of change
  bool file_stable_ = true;
  bool fetching_ = false;
  bool asked_ = false;
  Instant last_fetch_;
  std::jthread thread_;  // of a URL
};

}  // namespace cairn::server
