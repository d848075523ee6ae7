// Reads rows of statements.sql as values. The statements list the columns in exactly this order.
#pragma once

#include "store/sqlite/connection.h"
#include "store/store.h"

namespace cairn::sqlite {

DefinitionRow read_definition(const Query& query);
Result<InstanceRow> read_instance(const Query& query);
TaskRow read_task(const Query& query, Connection& connection);
RunRow read_run(const Query& query, Connection& connection);
Wait read_wait(const Query& query, Connection& connection);
Message read_message(const Query& query, Connection& connection);
DeadLetter read_dead_letter(const Query& query);

inline constexpr int instance_number_column = 15;
inline constexpr int task_number_column = 23;
inline constexpr int run_number_column = 28;
// Sorts after every text that does not begin with the last code point.
inline constexpr const char* beyond_all_text = "\xF4\x8F\xBF\xBF";

// A reference as two columns: the key's text or NULL, the parts or NULL when there are none.
std::optional<std::string_view> reference_key(const Reference& reference);
Json reference_parts(const Reference& reference);

// Lists stop when their page is full, not by SQL. Otherwise unreadable rows would displace readable ones.
constexpr std::int64_t no_limit = -1;

// The start of a page: the number in its cursor, or `first` without a cursor.
Result<std::int64_t> read_cursor(const std::string& cursor, std::int64_t first);

}  // namespace cairn::sqlite
