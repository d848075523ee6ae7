// The rows of a statement, read in binary form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

struct pg_result;

namespace cairn::postgres {

class Rows {
 public:
  Rows() = default;
  explicit Rows(pg_result* result) : result_(result) {}
  Rows(Rows&& other) noexcept
      : result_(std::exchange(other.result_, nullptr)),
        row_(other.row_),
        fault_(std::move(other.fault_)),
        unreadable_(std::move(other.unreadable_)) {}
  Rows& operator=(Rows&& other) noexcept {
    std::swap(result_, other.result_);
    std::swap(row_, other.row_);
    std::swap(fault_, other.fault_);
    std::swap(unreadable_, other.unreadable_);
    return *this;
  }
  ~Rows();

  bool next();
  void rewind() { row_ = -1; }
  std::size_t size() const;
  std::int64_t changed() const;  // by a statement without rows

  bool is_null(int column) const;
  bool boolean(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;                // empty for NULL; uuid and jsonb as text
  std::vector<std::string> texts(int column) const;  // of a text[] or uuid[]
  Timestamp time(int column) const;                  // in whole milliseconds
  std::optional<Timestamp> time_or_nothing(int column) const;
  // NULL is null. Text that is not JSON sets `fault`.
  Json json(int column) const;
  // The same for values that other programs write with SQL. An unreadable value becomes {"unreadable": why} and is
  // recorded.
  Json stored_json(int column) const;
  // Why a value that was read since the last call could not be read; empty if all were readable.
  std::optional<Error> take_unreadable() const { return std::exchange(unreadable_, std::nullopt); }

  // The first value that could not be read.
  const std::optional<Error>& fault() const { return fault_; }
  // The fault of the row that was read since the last call. The other rows can still be read.
  std::optional<Error> take_fault() const { return std::exchange(fault_, std::nullopt); }
  void fail(Error error) const;

 private:
  std::string_view bytes(int column) const;

  pg_result* result_ = nullptr;
  int row_ = -1;
  mutable std::optional<Error> fault_;
  mutable std::optional<Error> unreadable_;
};

}  // namespace cairn::postgres
