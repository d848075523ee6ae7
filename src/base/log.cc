#include "base/log.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "base/clock.h"

namespace cairn {
namespace {

// The lines of one event within the current window.
struct Repeats {
  std::chrono::steady_clock::time_point since;
  std::size_t written = 0;
  std::int64_t suppressed = 0;
};

struct Logger {
  std::mutex mutex;
  LogSettings settings;
  std::vector<std::string> secrets;
  std::map<std::string, Repeats, std::less<>> repeats;

  // Admits one more line of this event and answers how many were dropped before it; empty if the line is dropped.
  std::optional<std::int64_t> admit(std::string_view event) {
    if (settings.repeats_max == 0) return 0;
    const auto now = settings.now ? settings.now() : std::chrono::steady_clock::now();
    auto found = repeats.find(event);
    if (found == repeats.end()) found = repeats.emplace(std::string(event), Repeats{now}).first;
    Repeats& lines = found->second;
    std::int64_t left_out = 0;
    if (now - lines.since >= settings.repeats_window) {
      left_out = lines.suppressed;
      lines = {now};
    }
    if (lines.written == settings.repeats_max) {
      ++lines.suppressed;
      return std::nullopt;
    }
    ++lines.written;
    return left_out;
  }
};

Logger& logger() {
  // Never destroyed: threads may log while the process exits.
  static auto* instance = new Logger;
  return *instance;
}

const char* name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug";
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
  }
  return "unknown";
}

void mask(std::string& line, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    for (std::size_t at = line.find(secret); at != std::string::npos; at = line.find(secret, at)) {
      line.replace(at, secret.size(), "***");
      at += 3;
    }
  }
}

std::string as_json(std::string_view time, LogLevel level, std::string_view event, const LogFields& fields) {
  Json line = Json::object({{"time", time}, {"level", name_of(level)}, {"event", event}});
  for (const auto& [name, value] : fields) line.set(name, value);
  return write_json(line);
}

bool is_plain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != '"' && c != '\\' && c != '=';
  });
}

// Text with spaces or control characters is quoted as JSON, so that an entry always stays on one line.
std::string as_text(std::string_view time, LogLevel level, std::string_view event, const LogFields& fields) {
  std::string line(time);
  line.push_back(' ');
  line += name_of(level);
  line.push_back(' ');
  line += event;
  for (const auto& [name, value] : fields) {
    line.push_back(' ');
    line += name;
    line.push_back('=');
    if (value.is_string() && is_plain(value.as_string())) {
      line += value.as_string();
    } else {
      write_json(value, line);
    }
  }
  return line;
}

void write_stderr(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
    if (written <= 0) return;  // no other place is left to report this
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void configure_log(LogSettings settings) {
  const std::scoped_lock lock(logger().mutex);
  logger().settings = std::move(settings);
  logger().repeats.clear();
}

void mask_in_logs(std::string_view value) {
  if (value.size() < 4) return;
  const std::scoped_lock lock(logger().mutex);
  logger().secrets.emplace_back(value);
  // Mask the value as it appears inside JSON text, too.
  std::string escaped;
  write_json_string(value, escaped);
  escaped = escaped.substr(1, escaped.size() - 2);
  if (escaped != value) logger().secrets.push_back(escaped);
  // Mask longer secrets first, because one secret may contain another.
  std::sort(logger().secrets.begin(), logger().secrets.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

void log(LogLevel level, std::string_view event, const LogFields& given) {
  Logger& target = logger();
  const std::scoped_lock lock(target.mutex);
  if (level < target.settings.level) return;
  const std::optional<std::int64_t> left_out =
      level < LogLevel::warning ? std::optional<std::int64_t>(0) : target.admit(event);
  if (!left_out) return;
  LogFields more;
  if (*left_out > 0) {
    more = given;
    more.emplace_back("suppressed", *left_out);
  }
  const LogFields& fields = *left_out > 0 ? more : given;
  const std::string time = format_timestamp(Timestamp::of_unix_ms(SystemClock().now().unix_ms()));
  std::string line = target.settings.format == LogFormat::json ? as_json(time, level, event, fields)
                                                               : as_text(time, level, event, fields);
  mask(line, target.secrets);
  line.push_back('\n');
  if (target.settings.write) {
    target.settings.write(line);
  } else {
    write_stderr(line);
  }
}

void log_error(std::string_view event, const Error& error, LogFields fields) {
  fields.emplace_back("code", to_string(error.code));
  fields.emplace_back("message", error.message);
  log(LogLevel::error, event, fields);
}

}  // namespace cairn
