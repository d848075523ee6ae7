// Any text against every format of JSON Schema: the formats agree with the parsers that read such texts.
#include "schema/formats.h"

#include <arpa/inet.h>

#include "base/id.h"
#include "base/json.h"
#include "base/time.h"
#include "input.h"
#include "schema/uri.h"

void fuzz(std::string_view text) {
  using namespace cairn::schema;
  for (const char* name : {"date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "email", "uuid", "uri",
                           "uri-reference", "uri-template", "json-pointer", "relative-json-pointer"}) {
    const Format* const format = find_format(name);
    CAIRN_ASSERT(format != nullptr && !format->meaning.empty());
    static_cast<void>(format->accepts(text));
  }
  const std::string copy(text);
  const bool whole = copy.find('\0') == std::string::npos;
  std::uint8_t bytes[16];
  CAIRN_ASSERT(is_ipv4(text) == (whole && inet_pton(AF_INET, copy.c_str(), bytes) == 1));
  if (is_ipv6(text)) CAIRN_ASSERT(inet_pton(AF_INET6, copy.c_str(), bytes) == 1);
  CAIRN_ASSERT(cairn::schema::is_uuid(text) == cairn::is_uuid(text));
  // Leap seconds are dates of RFC 3339 that no instant of cairn has, and the years before 1 too.
  if (cairn::parse_timestamp(text)) CAIRN_ASSERT(is_date_time(text));
  if (is_date_time(text) && !text.starts_with("0000") && !text.starts_with("0001") && !text.starts_with("9999")) {
    CAIRN_ASSERT(cairn::parse_timestamp(text).has_value() || text.find(":60") != std::string_view::npos ||
                 text.size() > 35);
  }
  if (is_date(text)) CAIRN_ASSERT(is_date_time(copy + "T00:00:00Z"));
  if (is_uri(text)) CAIRN_ASSERT(is_uri_reference(text) && split_uri(text).has_scheme);
  if (is_hostname(text)) CAIRN_ASSERT(!text.empty() && text.size() <= 253 && text.find(' ') == std::string_view::npos);
  CAIRN_ASSERT(is_json_pointer("/" + cairn::escape_pointer(text)));
}
