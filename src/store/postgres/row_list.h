// Rows as one array parameter, of the types that the migrations make for it (`wf_…_row`). Their columns are given in
// the order in which the type has them.
#pragma once

#include <array>

#include "store/postgres/parameters.h"

namespace cairn::postgres {

enum class RowType : std::size_t { instance, state, wait, log, run, run_end, run_event, job, audit, count };

// What each type is called in the schema.
inline constexpr std::array<const char*, static_cast<std::size_t>(RowType::count)> row_type_names{
    "wf_instance_row", "wf_state_row",     "wf_wait_row", "wf_log_row",   "wf_run_row",
    "wf_run_end_row",  "wf_run_event_row", "wf_job_row",  "wf_audit_row",
};

// The numbers that this server gave them; 0: it has no such type.
using RowTypes = std::array<Oid, static_cast<std::size_t>(RowType::count)>;

class RowList {
 public:
  explicit RowList(RowType type) : type_(type) {}

  template <class... T>
  void add(const T&... columns) {
    ++size_;
    const std::size_t start = data_.size();
    append(data_, 0);
    append(data_, static_cast<int>(sizeof...(T)));
    (put(columns), ...);
    set_length(data_, start);
  }
  // The rows of another list of this type, after these.
  void append_rows(const RowList& others) {
    size_ += others.size_;
    data_ += others.data_;
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string encoded(const RowTypes& types) const {
    return array_of(types[static_cast<std::size_t>(type_)], size_, false, data_);
  }

 private:
  template <class T>
  void put(const T& value) {
    append(data_, static_cast<int>(type_of(static_cast<const T*>(nullptr)).value));
    const std::size_t start = data_.size();
    append(data_, is_null(value) ? -1 : 0);
    if (is_null(value)) return;
    append(data_, value);
    set_length(data_, start);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    if (value) return put(*value);
    append(data_, static_cast<int>(type_of(static_cast<const T*>(nullptr)).value));
    append(data_, -1);
  }
  void put(const char* value) { put(std::string_view(value)); }

  RowType type_;
  std::size_t size_ = 0;
  std::string data_;
};

}  // namespace cairn::postgres
