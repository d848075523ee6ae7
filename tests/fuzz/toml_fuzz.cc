// Any text as a settings file: it is read or refused with its line, and every value is text that JSON can hold.
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"
#include "config/configuration.h"
#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  static const int file = ::memfd_create("settings.toml", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  CAIRN_ASSERT(::ftruncate(file, 0) == 0);
  CAIRN_ASSERT(::pwrite(file, input.data(), input.size(), 0) == static_cast<ssize_t>(input.size()));
  const auto read = config::read_toml(path);
  if (!read) {
    CAIRN_ASSERT(read.error().code == ErrorCode::invalid && read.error().message.starts_with(path));
    return;
  }
  for (const auto& [name, value] : read->values) {
    CAIRN_ASSERT(is_utf8(name) && is_utf8(value.text) && value.line >= 0);
  }
  for (const Json* const table : {&read->config, &read->events, &read->secrets}) {
    const auto again = parse_json(write_json(*table), {.bytes_max = 4u << 20, .depth_max = 600, .nul_allowed = true});
    CAIRN_ASSERT(again.has_value() && *again == *table);
  }
}
