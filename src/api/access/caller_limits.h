// Limits the load of each credential: requests per second, and concurrent expensive requests, long polls and streams. A
// caller above its limits gets 429, and the other callers are not affected.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/access/identity.h"
#include "api/http_types.h"

namespace cairn::api {

// The cost class of a request.
enum class Demand {
  ordinary,
  expensive,  // a diagram, an export, a search: much work for one answer
  long_poll,  // answered when something happens
  stream,     // never ends
};
Demand demand_of(std::string_view operation, const Request& request);

// Limits of one answer.
struct AnswerLimits {
  std::size_t page_bytes_max = 8u << 20;
  std::int64_t png_pixels_max = 16'000'000;
};

struct CallerLimits {
  // Requests per second, by role, in the order of `all_roles`; 0: no limit. A caller may burst for two seconds' worth.
  // With several roles the highest limit applies.
  std::array<std::int64_t, std::size(all_roles)> rate{2'000, 2'000, 50'000, 50'000, 5'000, 2'000, 50'000};
  // Concurrent, per credential.
  std::int64_t expensive_max = 8;
  std::int64_t long_polls_max = 4'000;
  std::int64_t streams_max = 100;
  AnswerLimits answer = {};
};

// Safe to call from several threads.
class CallerLimiter {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  explicit CallerLimiter(const CallerLimits& limits) : limits_(limits) {}
  const CallerLimits& limits() const { return limits_; }

  struct Admission {
    std::optional<Response> refusal;  // 429
    std::shared_ptr<void> permit;     // held until the answer is sent or the stream has ended; null: not needed
  };
  // Called once for each request, even if its head was admitted before the body arrived.
  Admission admit(const Identity& identity, Demand demand, Instant now = std::chrono::steady_clock::now());

 private:
  // The current use of one credential.
  struct Use {
    std::atomic<std::int64_t> paid_until{0};          // in nanoseconds of the steady clock; see `refused_for`
    std::array<std::atomic<std::int64_t>, 4> open{};  // by demand
  };
  std::shared_ptr<Use> use_of(const std::string& account, Instant now);
  // How long the caller must wait until its rate allows another request; empty if it need not wait.
  static std::optional<std::chrono::nanoseconds> refused_for(Use& use, std::int64_t rate, Instant now);

  const CallerLimits limits_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Use>> uses_;  // shared with permits
};

// The setting with the rate of a role: limits.rate_viewer, ….
std::string rate_setting(Role role);

}  // namespace cairn::api
