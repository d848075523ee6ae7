#include "cli/dev_clock.h"

#include <charconv>
#include <cstdio>
#include <fstream>

namespace cairn::cli {

Timestamp DevClock::now() {
  return add(system_.now(), Duration::of_seconds(ahead_.load())).value_or(Timestamp{Timestamp::seconds_max, 0});
}

void DevClock::continue_from(Timestamp last) {
  system_.continue_from(add(last, Duration::of_seconds(-ahead_.load())).value_or(Timestamp()));
}

void DevClock::move_to(std::int64_t ahead) {
  std::int64_t before = ahead_.load();
  while (before < ahead && !ahead_.compare_exchange_weak(before, ahead)) {
  }
}

Result<std::int64_t> read_dev_clock(const std::string& file) {
  std::ifstream in(file);
  if (!in) return std::int64_t{0};
  std::string text;
  std::getline(in, text);
  std::int64_t ahead = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), ahead);
  if (fault != std::errc() || end != text.data() + text.size() || ahead < 0)
    return Error{ErrorCode::invalid, file + ": must contain the number of seconds that the clock was moved forward"};
  return ahead;
}

Result<void> write_dev_clock(const std::string& file, std::int64_t ahead) {
  const std::string beside = file + ".new";
  std::ofstream out(beside, std::ios::trunc);
  out << ahead << "\n" << std::flush;
  if (!out || std::rename(beside.c_str(), file.c_str()) != 0)
    return Error{ErrorCode::unavailable, file + ": cannot be written"};
  return {};
}

}  // namespace cairn::cli
