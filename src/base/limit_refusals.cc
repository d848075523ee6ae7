#include "base/limit_refusals.h"

#include <charconv>
#include <chrono>
#include <mutex>

#include "base/log.h"

namespace cairn {
namespace {

constexpr std::chrono::seconds log_pause{10};
constexpr std::string_view mark = " (limit ";

struct RefusalCount {
  std::uint64_t total = 0;
  std::uint64_t logged = 0;  // of `total`
  std::chrono::steady_clock::time_point log_after;
};
struct RefusalCounts {
  std::mutex mutex;
  std::map<std::string, RefusalCount, std::less<>> by_limit;
};

RefusalCounts& refusal_counts() {
  // Never destroyed: threads may refuse requests while the process exits.
  static auto* instance = new RefusalCounts;
  return *instance;
}

}  // namespace

void count_limit_refusal(std::string_view limit, std::int64_t value) {
  const auto now = std::chrono::steady_clock::now();
  std::uint64_t refused = 0;
  {
    RefusalCounts& counts = refusal_counts();
    const std::scoped_lock lock(counts.mutex);
    auto found = counts.by_limit.find(limit);
    if (found == counts.by_limit.end()) found = counts.by_limit.emplace(std::string(limit), RefusalCount()).first;
    RefusalCount& count = found->second;
    ++count.total;
    if (now < count.log_after) return;
    refused = count.total - count.logged;
    count.logged = count.total;
    count.log_after = now + log_pause;
  }
  log_warning("limit.refused", {{"limit", limit}, {"value", value}, {"refused", static_cast<std::int64_t>(refused)}});
}

std::map<std::string, std::uint64_t> limit_refusals() {
  RefusalCounts& counts = refusal_counts();
  const std::scoped_lock lock(counts.mutex);
  std::map<std::string, std::uint64_t> out;
  for (const auto& [limit, count] : counts.by_limit) out[limit] = count.total;
  return out;
}

Error limit_error(std::string_view limit, std::int64_t value, std::string message) {
  message.append(mark).append(limit).append(" = ").append(std::to_string(value)).append(")");
  return {ErrorCode::limit, std::move(message)};
}

Error overload_error(std::string_view limit, std::int64_t value, std::string message) {
  Error error = limit_error(limit, value, std::move(message));
  error.code = ErrorCode::unavailable;
  return error;
}

std::optional<LimitRefusal> limit_of(const Error& error) {
  std::string_view text = error.message;
  const std::size_t at = text.rfind(mark);
  if (error.code != ErrorCode::limit && error.code != ErrorCode::unavailable) return std::nullopt;
  if (at == std::string_view::npos || !text.ends_with(')')) return std::nullopt;
  text = text.substr(at + mark.size(), text.size() - at - mark.size() - 1);
  const std::size_t equals = text.find(" = ");
  if (equals == std::string_view::npos) return std::nullopt;
  LimitRefusal refusal;
  refusal.limit = std::string(text.substr(0, equals));
  const std::string_view value = text.substr(equals + 3);
  const auto read = std::from_chars(value.data(), value.data() + value.size(), refusal.value);
  if (read.ec != std::errc() || read.ptr != value.data() + value.size()) return std::nullopt;
  return refusal;
}

}  // namespace cairn
