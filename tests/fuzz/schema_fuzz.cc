// A schema on the first line, the data after it: compiling and checking never crash, and `check`
// and `accepts` agree.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "schema/schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) return 0;
  const auto document = cairn::parse_json(text.substr(0, line_end));
  if (!document) return 0;
  const auto schema = cairn::schema::Schema::compile(*document);
  if (!schema) {
    CAIRN_ASSERT(!schema.error().empty());
    return 0;
  }
  const auto data = cairn::parse_json(text.substr(line_end + 1));
  if (data) CAIRN_ASSERT(schema->accepts(*data) == schema->check(*data).empty());
  return 0;
}
