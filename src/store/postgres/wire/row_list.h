// Rows as one array parameter, of the types that the schema defines for it (`wf_…_row`). Columns must be given in the
// order of the type.
#pragma once

#include <array>

#include "store/postgres/wire/parameters.h"

namespace cairn::postgres {

enum class RowType : std::size_t { instance, state, wait, log, run, run_end, run_event, job, audit, count };

// The name of each type in the schema.
inline constexpr std::array<const char*, static_cast<std::size_t>(RowType::count)> row_type_names{
    "wf_instance_row", "wf_state_row",     "wf_wait_row", "wf_log_row",   "wf_run_row",
    "wf_run_end_row",  "wf_run_event_row", "wf_job_row",  "wf_audit_row",
};

// The type numbers on this server; 0: the type does not exist.
using RowTypes = std::array<Oid, static_cast<std::size_t>(RowType::count)>;

class RowList {
 public:
  explicit RowList(RowType type) : type_(type) {}

  template <class... T>
  void add(const T&... columns) {
    std::string& out = rows_.one_more();
    const std::size_t start = out.size();
    append(out, 0);
    append(out, static_cast<int>(sizeof...(T)));
    (put(out, columns), ...);
    set_length(out, start);
  }
  // Appends the rows of another list of this type.
  void append_rows(const RowList& others) { rows_.add_all(others.rows_); }
  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.size() == 0; }
  std::string_view encoded(const RowTypes& types) const {
    return rows_.of_type(types[static_cast<std::size_t>(type_)]);
  }

 private:
  template <class T>
  static void put(std::string& out, const T& value) {
    append(out, static_cast<int>(type_of(static_cast<const T*>(nullptr)).value));
    if (is_null(value)) return append(out, -1);
    append_sized(out, value);
  }
  template <class T>
  static void put(std::string& out, const std::optional<T>& value) {
    if (value) return put(out, *value);
    append(out, static_cast<int>(type_of(static_cast<const T*>(nullptr)).value));
    append(out, -1);
  }
  static void put(std::string& out, const char* value) { put(out, std::string_view(value)); }

  RowType type_;
  Array rows_;
};

}  // namespace cairn::postgres
