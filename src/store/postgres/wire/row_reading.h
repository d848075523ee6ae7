// What statements take and give, besides the rows of store/sql_rows.h.
#pragma once

#include "store/document_rows.h"
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

// What a row is called in `Page::unreadable`.
inline std::string title_of(const DefinitionRow& row) { return "definition " + row.name + " " + row.version; }
inline std::string title_of(const InstanceRow& row) { return "instance " + row.id.value; }
inline std::string title_of(const HistoryRow& row) { return "history row " + std::to_string(row.sequence); }
inline std::string title_of(const TaskRow& row) { return "task " + row.id.value; }
inline std::string title_of(const RunRow& row) { return "run " + row.id.value; }
inline std::string title_of(const DeadLetter& row) { return "dead letter " + std::to_string(row.id); }
inline std::string title_of(const OutboxRow& row) { return "event " + std::to_string(row.sequence); }
inline std::string title_of(const ScheduleRow& row) { return "schedule " + row.name; }
inline std::string title_of(const DocumentRow& row) { return row.kind + " " + row.id; }
inline std::string title_of(const AuditRow& row) { return "audit row " + std::to_string(row.sequence); }

// Adds a row that was just read, or names it if it cannot be read: one bad row must not hide the others.
template <class T>
void add_row(Page<T>& page, const Rows& rows, T row) {
  if (const auto fault = rows.take_fault()) {
    page.unreadable.push_back(title_of(row) + ": " + fault->message);
  } else {
    page.items.push_back(std::move(row));
  }
}

// A page of rows; the statement reads one more than `limit`. `last` names the row that a cursor continues after.
template <class T, class Read, class Last>
Page<T> read_page(Rows& rows, std::size_t limit, Read read, Last last) {
  Page<T> page;
  std::string cursor;
  while (rows.next()) {
    if (page.items.size() == limit) {
      page.next_cursor = cursor;
      return page;
    }
    cursor = last(rows);
    add_row(page, rows, read(rows));
  }
  if (rows.size() > limit) page.next_cursor = cursor;  // some could not be read
  return page;
}

}  // namespace cairn::postgres
