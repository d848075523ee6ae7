// Structured logging: one line an event, to stderr, as text for people or JSON for machines.
// Process-wide, because a line about a failure must be possible from anywhere; safe from several
// threads. Values registered as secret never appear, whatever field or message they are in.
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
  std::function<void(std::string_view line)> write = {};  // absent: stderr
  // A fault that repeats must not fill the disk: of the warnings and errors of one event at most this many are written
  // in each window. The first line of the next one says how many were left out (`suppressed`). 0: all are written.
  std::size_t repeats_max = 20;
  std::chrono::milliseconds repeats_window{10'000};
  std::function<std::chrono::steady_clock::time_point()> now = {};  // absent: the system's
};
void configure_log(LogSettings settings);

// From now on every occurrence of `value` is written as ***. Values under 4 bytes are ignored: masking
// them would blank half of every line.
void mask_in_logs(std::string_view value);

using LogFields = std::vector<std::pair<std::string_view, Json>>;

// `event` is a stable dotted name: timers.failed.
void log(LogLevel level, std::string_view event, const LogFields& fields = {});
inline void log_debug(std::string_view event, const LogFields& fields = {}) { log(LogLevel::debug, event, fields); }
inline void log_info(std::string_view event, const LogFields& fields = {}) { log(LogLevel::info, event, fields); }
inline void log_warning(std::string_view event, const LogFields& fields = {}) { log(LogLevel::warning, event, fields); }
inline void log_error(std::string_view event, const LogFields& fields = {}) { log(LogLevel::error, event, fields); }
// With the error's code and message as fields.
void log_error(std::string_view event, const Error& error, LogFields fields = {});

}  // namespace cairn
