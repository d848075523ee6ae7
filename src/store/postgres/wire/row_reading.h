// What statements take and give, besides the rows of store/sql_rows.h.
#pragma once

#include "store/postgres/wire/parameters.h"
#include "store/postgres/wire/rows.h"
#include "store/sql_rows.h"

namespace cairn::postgres {

// A reference as two columns: the key's text or NULL, the parts or NULL when there are none.
std::optional<std::string> reference_key(const Reference& reference);
Json reference_parts(const Reference& reference);
std::optional<std::string> key_text(const Json& key);
std::optional<std::string> text_or_null(const std::string& text);
std::optional<std::string> json_or_null(const Json& value);  // as text
// The end of a text that a search looks for, in lower case (ASCII letters only), at most 16 bytes: texts that differ
// mostly differ there. Not all of it, because the server searches naively: its time grows with the length of what it
// looks for. NULL without a text. The text is valid UTF-8.
std::optional<std::string> search_tail(std::string_view text);

// The UUID of a run's id: the id itself, or one derived from it.
std::string run_uuid(const RunId& id);
bool is_own_uuid(const RunId& id);

// A page of rows; the statement reads one more than `limit`. `last` names the row that a cursor continues after.
template <class T, class Read, class Last>
Page<T> read_page(Rows& rows, std::size_t limit, Read read, Last last) {
  Page<T> page;
  std::string cursor;
  while (rows.next()) {
    if (page.items.size() == limit) {
      page.next_cursor = cursor;
      break;
    }
    cursor = last(rows);
    page.items.push_back(read(rows));
  }
  return page;
}

}  // namespace cairn::postgres
