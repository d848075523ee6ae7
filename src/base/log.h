// Structured logging to stderr: one line per event, as text for people or JSON for machines. The log is process-wide,
// because every layer must be able to report a failure. It is safe from several threads. Values registered as secret
// never appear in any field or message.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn {

enum class LogLevel { debug, info, warning, error };
enum class LogFormat { text, json };

struct LogSettings {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  std::function<void(std::string_view line)> write = {};  // empty: stderr
  // At most this many warnings and errors of one event are written in each window, so that a repeated fault cannot fill
  // the disk. The first line of the next window tells how many were dropped (`suppressed`). 0 writes all of them.
  std::size_t repeats_max = 20;
  std::chrono::milliseconds repeats_window{10'000};
  std::function<std::chrono::steady_clock::time_point()> now = {};  // empty: the system clock
};
void configure_log(LogSettings settings);

// Replaces every later occurrence of `value` by ***. Values under 4 bytes are ignored, because masking them would blank
// half of every line.
void mask_in_logs(std::string_view value);

using LogFields = std::vector<std::pair<std::string_view, Json>>;

// `event` is a stable dotted name, such as timers.failed.
void log(LogLevel level, std::string_view event, const LogFields& fields = {});
inline void log_debug(std::string_view event, const LogFields& fields = {}) { log(LogLevel::debug, event, fields); }
inline void log_info(std::string_view event, const LogFields& fields = {}) { log(LogLevel::info, event, fields); }
inline void log_warning(std::string_view event, const LogFields& fields = {}) { log(LogLevel::warning, event, fields); }
inline void log_error(std::string_view event, const LogFields& fields = {}) { log(LogLevel::error, event, fields); }
// Adds the error's code and message as fields.
void log_error(std::string_view event, const Error& error, LogFields fields = {});

}  // namespace cairn
