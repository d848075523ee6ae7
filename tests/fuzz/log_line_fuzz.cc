// A secret on the first line, then an event's text: the log writes one line without control characters, and the secret
// is nowhere in it, neither as it is nor escaped.
#include "base/log.h"
#include "base/utf8.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  static std::string line;
  static const bool configured = [] {
    LogSettings settings;
    settings.write = [](std::string_view written) { line = std::string(written); };
    configure_log(settings);
    mask_in_logs("s3cr\"t-42");
    mask_in_logs("s3cr\"t-42/longer");
    return true;
  }();
  CAIRN_ASSERT(configured);
  LogSettings settings;
  settings.format = cairn::fuzzing::take_byte(input) % 2 == 0 ? LogFormat::text : LogFormat::json;
  settings.write = [](std::string_view written) { line = std::string(written); };
  configure_log(settings);
  const std::string name(fuzzing::take_line(input));
  if (!is_utf8(name) || !is_utf8(input)) return;
  log_info("fuzz.text", {{"text", name}, {"more", Json::object({{name, input}})}, {"plain", input}});
  CAIRN_ASSERT(line.ends_with('\n'));
  for (std::size_t i = 0; i + 1 < line.size(); ++i) CAIRN_ASSERT(static_cast<unsigned char>(line[i]) >= 0x20);
  for (const std::string_view secret : {"s3cr\"t-42", "s3cr\\\"t-42"}) {
    CAIRN_ASSERT(line.find(secret) == std::string::npos);
  }
}
