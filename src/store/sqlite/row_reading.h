// What statements take and give, besides the rows of store/sql_rows.h.
#pragma once

#include "store/sql_rows.h"
#include "store/sqlite/connection.h"

namespace cairn::sqlite {

// Sorts after every text that does not begin with the last code point.
inline constexpr const char* beyond_all_text = "\xF4\x8F\xBF\xBF";

// A reference as two columns: the key's text or NULL, the parts or NULL when there are none.
std::optional<std::string_view> reference_key(const Reference& reference);
Json reference_parts(const Reference& reference);

// Lists stop when their page is full, not by SQL. Otherwise unreadable rows would displace readable ones.
constexpr std::int64_t no_limit = -1;

}  // namespace cairn::sqlite
