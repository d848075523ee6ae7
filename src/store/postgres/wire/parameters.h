// Parameters of a statement in PostgreSQL's binary form, with types. NULLs keep their type, and a column of values
// becomes one array.
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

// The numbers of a type and of its array type, the same on every server.
struct Type {
  Oid value;
  Oid array;
};
inline constexpr Type boolean_type{16, 1000}, bytes_type{17, 1001}, bigint_type{20, 1016}, integer_type{23, 1007},
    text_type{25, 1009}, place_type{27, 1010}, double_type{701, 1022}, time_type{1184, 1185}, uuid_type{2950, 2951},
    jsonb_type{3802, 3807};

// A UUID of 36 characters, which the caller has validated.
struct Uuid {
  std::string_view text;
};
// The position of a row in its table (`ctid`), as Rows::integer reads it.
struct RowPlace {
  std::int64_t number;
};
// Sent as jsonb; JSON null is SQL NULL.
struct Jsonb {
  const Json& value;
};

// The wire type of each C++ type.
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

// Writes the length of everything after it into the four bytes at `start`.
void set_length(std::string& out, std::size_t start);
// Appends a value of a known length, preceded by that length.
void append_sized(std::string& out, std::int64_t value);
void append_sized(std::string& out, int value);
void append_sized(std::string& out, std::string_view value);
void append_sized(std::string& out, Timestamp value);
inline void append_sized(std::string& out, std::uint64_t value) { append_sized(out, static_cast<std::int64_t>(value)); }
inline void append_sized(std::string& out, const std::string& value) { append_sized(out, std::string_view(value)); }
template <class T>
void append_sized(std::string& out, const T& value) {
  const std::size_t start = out.size();
  append(out, 0);
  append(out, value);
  set_length(out, start);
}

// A binary array, built in place. Its header is known when the last value is.
class Array {
 public:
  // The place where one more value must be appended, after its length.
  std::string& one_more() {
    if (size_++ == 0) bytes_.resize(head_bytes);
    return bytes_;
  }
  void note_null() { has_null_ = true; }
  // Appends the values of another array.
  void add_all(const Array& others);
  std::size_t size() const { return size_; }
  // The array as a parameter, valid until something is added.
  std::string_view of_type(Oid type) const;

 private:
  static constexpr std::size_t head_bytes = 5 * sizeof(int);
  mutable std::string bytes_;  // the header is written on request
  std::size_t size_ = 0;
  bool has_null_ = false;
};

// One array parameter, built value by value.
template <class T>
class Column {
 public:
  void add(const T& value) {
    if (is_null(value)) {
      add_null();
    } else {
      append_sized(array_.one_more(), value);
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
    array_.note_null();
    append(array_.one_more(), -1);
  }
  std::size_t size() const { return array_.size(); }
  bool empty() const { return array_.size() == 0; }
  static constexpr Type type() { return type_of(static_cast<const T*>(nullptr)); }
  std::string_view encoded() const { return array_.of_type(type().value); }

 private:
  Array array_;
};

// Names as one text[].
Column<std::string> names(const std::vector<std::string>& list);

// Arrays are borrowed until the statement is sent.
class Parameters {
 public:
  explicit Parameters(std::size_t count) {
    types_.reserve(count);
    places_.reserve(count);
  }
  template <class T>
  void add(const T& value) {
    if (is_null(value)) return add_null(type_of(static_cast<const T*>(nullptr)).value);
    types_.push_back(type_of(static_cast<const T*>(nullptr)).value);
    const std::size_t start = own_.size();
    append(own_, value);
    places_.push_back({nullptr, start, own_.size() - start});
  }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value) return add(*value);
    add_null(type_of(static_cast<const T*>(nullptr)).value);
  }
  template <class T>
  void add(const Column<T>& column) {
    add_encoded(Column<T>::type().array, column.encoded());
  }
  template <class T>
  void add(const std::optional<Column<T>>& column) {
    if (column) return add(*column);
    add_null(Column<T>::type().array);
  }
  void add(const char* value) { add(std::string_view(value)); }
  // Type 0: the statement names the type.
  void add_encoded(Oid type, std::string_view value) {
    types_.push_back(type);
    places_.push_back({value.data(), 0, value.size()});
  }

  const std::vector<Oid>& types() const { return types_; }
  // After all are added: the address of each value (nullptr for NULL) and its length.
  std::vector<const char*> values() const;
  std::vector<int> lengths() const;

 private:
  struct Place {
    const char* borrowed;  // nullptr: in `own_`
    std::size_t start;
    std::size_t length;
  };
  static constexpr std::size_t null_length = static_cast<std::size_t>(-1);
  void add_null(Oid type) {
    types_.push_back(type);
    places_.push_back({nullptr, 0, null_length});
  }

  std::vector<Oid> types_;
  std::vector<Place> places_;
  std::string own_;
};

// PostgreSQL counts microseconds from 2000-01-01.
inline constexpr std::int64_t epoch_offset_us = 946'684'800'000'000;

}  // namespace cairn::postgres
