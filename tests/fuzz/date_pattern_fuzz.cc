// A pattern on the first line, text on the second: a time that is read from the text is written by the pattern and read
// back as the same time.
#include "time/date_pattern.h"

#include "base/ascii.h"
#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  static const TimeZone zone = *TimeZone::find("Europe/Berlin");
  const std::string_view pattern = fuzzing::take_line(input);
  const auto written = format_date({1'700'000'000, 123'456'789}, pattern, zone, "Europe/Berlin");
  const auto at = parse_date(input, pattern, zone);
  if (!at) return;
  CAIRN_ASSERT(written.has_value());
  CAIRN_ASSERT(at->seconds >= Timestamp::seconds_min && at->seconds <= Timestamp::seconds_max);
  const auto text = format_date(*at, pattern, zone, "Europe/Berlin");
  CAIRN_ASSERT(text.has_value());
  // A field that occurs twice may have two values in the text; the last one counts. Patterns with an offset but not
  // the full time lose what the offset shifts.
  const auto again = parse_date(*text, pattern, zone);
  if (again && *again == *at) return;
  const bool partial = pattern.find_first_of("xX") != std::string_view::npos;
  bool repeated = false;
  for (const char letter : std::string_view("yMdEHhamsS")) {
    const std::size_t first = pattern.find(letter);
    if (first == std::string_view::npos) continue;
    const std::size_t end = pattern.find_first_not_of(letter, first);
    repeated = repeated || (end != std::string_view::npos && pattern.find(letter, end) != std::string_view::npos);
  }
  const bool both_hours = pattern.find('h') != std::string_view::npos && pattern.find('H') != std::string_view::npos;
  // A number of one or two digits directly before another field: written without its zero it may be read otherwise.
  bool joined = false;
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    const bool single = pattern[i + 1] != pattern[i] && (i == 0 || pattern[i - 1] != pattern[i]);
    joined =
        joined || (single && std::string_view("MdHhms").find(pattern[i]) != std::string_view::npos &&
                   (cairn::is_letter(pattern[i + 1]) || cairn::is_digit(pattern[i + 1]) || pattern[i + 1] == '\''));
  }
  CAIRN_ASSERT(partial || repeated || both_hours || joined);
}
