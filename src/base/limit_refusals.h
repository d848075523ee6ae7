// Reports refusals by limits: each limit has a name, each refusal is counted, and the log gets at most one line for
// each limit in 10 seconds. Process-wide, like the log, because limits are enforced in every layer. Safe from several
// threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn {

// The name of the limit. It is the setting's name if a setting exists (`limits.comment_bytes_max`).
struct LimitRefusal {
  std::string limit;
  std::int64_t value = 0;
  bool operator==(const LimitRefusal&) const = default;
};

// Counts a refusal and logs it. Call it where the refusal becomes an answer, once for each refused request.
void count_limit_refusal(std::string_view limit, std::int64_t value);
// Refusals since the process started, by the limit's name.
std::map<std::string, std::uint64_t> limit_refusals();

// An error of ErrorCode::limit whose message ends with " (limit NAME = VALUE)": the request itself is too much.
Error limit_error(std::string_view limit, std::int64_t value, std::string message);
// The same with ErrorCode::unavailable: too much waits already, and the same request may succeed later.
Error overload_error(std::string_view limit, std::int64_t value, std::string message);
// The limit that `error`, of one of the two codes, names at the end of its message; empty if it names none.
std::optional<LimitRefusal> limit_of(const Error& error);

}  // namespace cairn
