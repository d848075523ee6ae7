// Reads rows of sql/ as values. The statements list the columns in exactly this order.
#pragma once

#include "store/postgres/wire/parameters.h"
#include "store/postgres/wire/rows.h"
#include "store/store.h"

namespace cairn::postgres {

DefinitionRow read_definition(const Rows& rows);
InstanceRow read_instance(const Rows& rows);
TaskRow read_task(const Rows& rows);
RunRow read_run(const Rows& rows);
// Reads the retry policy, from the column `backoff_ms` to `timeout_ms`.
void read_retries(const Rows& rows, int first, RunRow& row);
Wait read_wait(const Rows& rows);
Message read_message(const Rows& rows);
DeadLetter read_dead_letter(const Rows& rows);
std::vector<RunTypeRow> read_run_types(Rows rows);
HistoryRow read_history(const Rows& rows);
OutboxRow read_outbox(const Rows& rows);  // without published_at if the statement has none

inline constexpr int instance_number_column = 15;
inline constexpr int task_number_column = 23;
inline constexpr int run_number_column = 29;

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

// The start of a page: the number in its cursor, or `first` without a cursor.
Result<std::int64_t> read_cursor(const std::string& cursor, std::int64_t first);

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
