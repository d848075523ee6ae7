#include "api/access/caller_limits.h"

#include <algorithm>
#include <charconv>

#include "api/problem.h"

namespace cairn::api {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t burst_s = 2;
constexpr std::size_t callers_max = 10'000;
// A longer page costs as much as a search.
constexpr std::size_t usual_page = 200;

bool is_long_page(const Request& request) {
  const std::string_view limit = request.query_value("limit");
  std::size_t value = 0;
  const auto read = std::from_chars(limit.data(), limit.data() + limit.size(), value);
  return read.ec == std::errc::result_out_of_range || value > usual_page;
}

bool is_search(const Request& request) {
  // The last three are filters of the audit trail, which has no index for them.
  constexpr std::string_view searching[] = {"q", "filter", "part", "who", "what", "resource"};
  return std::any_of(request.query.begin(), request.query.end(), [&](const auto& parameter) {
    return std::find(std::begin(searching), std::end(searching), parameter.first) != std::end(searching);
  });
}

// The setting and the value of a concurrency limit.
struct OpenLimit {
  std::string_view setting;
  std::int64_t value = 0;
  const char* what = "";
};
OpenLimit open_limit(const CallerLimits& limits, Demand demand) {
  switch (demand) {
    case Demand::ordinary: break;
    case Demand::expensive: return {"limits.expensive_max", limits.expensive_max, "diagrams, exports and searches"};
    case Demand::long_poll: return {"limits.long_polls_max", limits.long_polls_max, "long polls"};
    case Demand::stream: return {"limits.streams_max", limits.streams_max, "event streams"};
  }
  return {};
}

}  // namespace

std::string rate_setting(Role role) { return std::string("limits.rate_") + to_string(role); }

Demand demand_of(std::string_view operation, const Request& request) {
  if (operation == "streamEvents") return Demand::stream;
  if (operation == "leaseRuns" || !request.query_value("wait").empty()) return Demand::long_poll;
  if (operation == "getBulk" && !request.query_value("after").empty()) return Demand::long_poll;
  // The explanation of a suspended instance reads its whole history.
  constexpr std::string_view expensive[] = {"verifyAudit", "verifyStore",     "doctor",
                                            "startBulk",   "explainInstance", "listErrors"};
  if (operation.ends_with("Diagram") ||
      std::find(std::begin(expensive), std::end(expensive), operation) != std::end(expensive)) {
    return Demand::expensive;
  }
  const bool has_period = !request.query_value("from").empty() || !request.query_value("to").empty();
  if (operation == "listAudit" && has_period) return Demand::expensive;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (reads && (is_search(request) || is_long_page(request))) return Demand::expensive;
  return Demand::ordinary;
}

std::shared_ptr<CallerLimiter::Use> CallerLimiter::use_of(const std::string& account, Instant now) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = uses_.find(account); found != uses_.end()) return found->second;
  if (uses_.size() >= callers_max) {
    // Dropping an idle caller without open requests does not raise its limit.
    std::erase_if(uses_, [now](const auto& entry) {
      const Use& use = *entry.second;
      return entry.second.use_count() == 1 && use.paid_until < now.time_since_epoch().count() &&
             std::all_of(use.open.begin(), use.open.end(), [](const auto& count) { return count == 0; });
    });
    if (uses_.size() >= callers_max) uses_.clear();  // permits keep their own counts until they end
  }
  return uses_.emplace(account, std::make_shared<Use>()).first->second;
}

// A leaky bucket. Each request advances `paid_until` by the interval of the allowed rate. A caller below its rate never
// gets ahead of the clock; a caller ahead by the burst must wait.
std::optional<std::chrono::nanoseconds> CallerLimiter::refused_for(Use& use, std::int64_t rate, Instant now) {
  const std::int64_t time = now.time_since_epoch().count();
  const std::int64_t step = std::max<std::int64_t>(1, second_ns / rate);
  std::int64_t before = use.paid_until.load(std::memory_order_relaxed);
  for (;;) {
    const std::int64_t after = std::max(before, time) + step;
    if (after - time > burst_s * second_ns) return std::chrono::nanoseconds(after - time - burst_s * second_ns);
    if (use.paid_until.compare_exchange_weak(before, after, std::memory_order_relaxed)) return std::nullopt;
  }
}

CallerLimiter::Admission CallerLimiter::admit(const Identity& identity, Demand demand, Instant now) {
  Role role = Role::starter;  // for a signed request, which has no role
  std::int64_t rate = identity.roles.empty() ? limits_.rate[static_cast<std::size_t>(role)] : -1;
  for (const Role one : identity.roles) {
    const std::int64_t allowed = limits_.rate[static_cast<std::size_t>(one)];
    if (rate == 0 || (allowed != 0 && allowed <= rate)) continue;
    role = one;
    rate = allowed;
  }
  if (rate == 0 && demand == Demand::ordinary) return {};
  const std::shared_ptr<Use> use = use_of(identity.account, now);
  if (rate > 0) {
    if (const auto wait = refused_for(*use, rate, now)) {
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(*wait).count();
      return {limit_problem(429, rate_setting(role), rate,
                            "this credential sends more than " + std::to_string(rate) + " requests per second",
                            static_cast<int>(std::max<std::int64_t>(1, seconds))),
              nullptr};
    }
  }
  const OpenLimit limit = open_limit(limits_, demand);
  if (limit.value == 0) return {};
  auto& open = use->open[static_cast<std::size_t>(demand)];
  if (open.fetch_add(1) >= limit.value) {
    --open;
    return {limit_problem(429, limit.setting, limit.value,
                          "this credential has " + std::to_string(limit.value) + " " + limit.what +
                              " open; wait until one has ended"),
            nullptr};
  }
  return {std::nullopt,
          std::shared_ptr<void>(nullptr, [use, demand](void*) { --use->open[static_cast<std::size_t>(demand)]; })};
}

}  // namespace cairn::api
