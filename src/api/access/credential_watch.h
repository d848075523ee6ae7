// Ends long polls and streams whose credential is no longer valid. One thread checks all of them once a second; it runs
// only while there are any.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace cairn::api {

// Safe to call from several threads.
class CredentialWatch {
 public:
  // Together with the key cache (2 s), a revocation takes effect within 5 s.
  static constexpr std::chrono::milliseconds every{1'000};

  explicit CredentialWatch(std::chrono::milliseconds pause = every) : pause_(pause) {}
  ~CredentialWatch();
  CredentialWatch(const CredentialWatch&) = delete;
  CredentialWatch& operator=(const CredentialWatch&) = delete;

  // Calls `end` when `accepted` returns false, from the watch's thread. Dropping the returned handle ends the watch;
  // the handle may outlive this object.
  std::shared_ptr<void> add(std::function<bool()> accepted, std::function<void()> end);

 private:
  struct Entry {
    std::function<bool()> accepted;
    std::function<void()> end;
  };
  struct Entries {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::uint64_t last = 0;
    std::map<std::uint64_t, std::shared_ptr<const Entry>> by_number;
  };
  void run(const std::stop_token& stop);

  const std::chrono::milliseconds pause_;
  const std::shared_ptr<Entries> entries_ = std::make_shared<Entries>();  // shared with the handles that `add` returned
  std::jthread thread_;
};

}  // namespace cairn::api
