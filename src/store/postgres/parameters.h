// Parameters of a statement in PostgreSQL's binary form, typed: NULLs keep their type, and a column of
// values becomes one array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace cairn::postgres {

using Oid = unsigned int;

// A type's own number and that of its array, as every server has them.
struct Type {
  Oid value;
  Oid array;
};
inline constexpr Type boolean_type{16, 1000}, bytes_type{17, 1001}, bigint_type{20, 1016}, integer_type{23, 1007},
    text_type{25, 1009}, place_type{27, 1010}, double_type{701, 1022}, time_type{1184, 1185}, uuid_type{2950, 2951},
    jsonb_type{3802, 3807};

// A UUID as 36 characters, which the caller has checked.
struct Uuid {
  std::string_view text;
};
// Where a row lies in its table (`ctid`), as Rows::integer reads it.
struct RowPlace {
  std::int64_t number;
};
// As jsonb; JSON null is SQL NULL.
struct Jsonb {
  const Json& value;
};

// What each C++ type is on the wire.
constexpr Type type_of(const bool*) { return boolean_type; }
constexpr Type type_of(const std::int64_t*) { return bigint_type; }
constexpr Type type_of(const std::uint64_t*) { return bigint_type; }
constexpr Type type_of(const int*) { return integer_type; }
constexpr Type type_of(const double*) { return double_type; }
constexpr Type type_of(const std::string*) { return text_type; }
constexpr Type type_of(const std::string_view*) { return text_type; }
constexpr Type type_of(const Timestamp*) { return time_type; }
constexpr Type type_of(const Uuid*) { return uuid_type; }
constexpr Type type_of(const RowPlace*) { return place_type; }
constexpr Type type_of(const Jsonb*) { return jsonb_type; }

void append(std::string& out, bool value);
void append(std::string& out, std::int64_t value);
void append(std::string& out, int value);
void append(std::string& out, double value);
void append(std::string& out, std::string_view value);
void append(std::string& out, Timestamp value);
void append(std::string& out, Uuid value);
void append(std::string& out, RowPlace value);
void append(std::string& out, Jsonb value);
inline void append(std::string& out, std::uint64_t value) { append(out, static_cast<std::int64_t>(value)); }
inline void append(std::string& out, const std::string& value) { append(out, std::string_view(value)); }

inline bool is_null(const Jsonb& value) { return value.value.is_null(); }
template <class T>
bool is_null(const T&) {
  return false;
}

// An array in binary: its head and then what stands in it.
std::string array_of(Oid type, std::size_t size, bool has_null, const std::string& values);
// Writes the length of everything after it into the four bytes at `start`.
void set_length(std::string& out, std::size_t start);

// One array parameter, built value by value.
template <class T>
class Column {
 public:
  void add(const T& value) {
    if (is_null(value)) {
      add_null();
    } else {
      ++size_;
      const std::size_t start = data_.size();
      append(data_, 0);
      append(data_, value);
      set_length(data_, start);
    }
  }
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      add_null();
    }
  }
  void add_null() {
    has_null_ = true;
    ++size_;
    append(data_, -1);
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  static constexpr Type type() { return type_of(static_cast<const T*>(nullptr)); }
  std::string encoded() const { return array_of(type().value, size_, has_null_, data_); }

 private:
  std::string data_;
  std::size_t size_ = 0;
  bool has_null_ = false;
};

// Several names as one text[].
Column<std::string> names(const std::vector<std::string>& list);

class Parameters {
 public:
  template <class T>
  void add(const T& value) {
    types_.push_back(type_of(static_cast<const T*>(nullptr)).value);
    if (is_null(value)) {
      values_.emplace_back();
    } else {
      append(values_.emplace_back(std::in_place).value(), value);
    }
  }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      types_.push_back(type_of(static_cast<const T*>(nullptr)).value);
      values_.emplace_back();
    }
  }
  template <class T>
  void add(const Column<T>& column) {
    types_.push_back(Column<T>::type().array);
    values_.emplace_back(column.encoded());
  }
  template <class T>
  void add(const std::optional<Column<T>>& column) {
    if (column) {
      add(*column);
    } else {
      types_.push_back(Column<T>::type().array);
      values_.emplace_back();
    }
  }
  void add(const char* value) { add(std::string_view(value)); }
  // Of a type that the statement names.
  void add_encoded(std::string value) {
    types_.push_back(0);
    values_.emplace_back(std::move(value));
  }

  const std::vector<Oid>& types() const { return types_; }
  const std::vector<std::optional<std::string>>& values() const { return values_; }

 private:
  std::vector<Oid> types_;
  std::vector<std::optional<std::string>> values_;
};

// PostgreSQL counts microseconds from 2000-01-01.
inline constexpr std::int64_t epoch_offset_us = 946'684'800'000'000;

}  // namespace cairn::postgres
