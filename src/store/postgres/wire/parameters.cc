#include "store/postgres/wire/parameters.h"

#include <bit>

#include "base/id.h"

namespace cairn::postgres {

namespace {

template <class T>
void put_big_endian(char* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * (sizeof(T) - 1 - i))));
  }
}

template <class T>
void append_big_endian(std::string& out, T value) {
  char bytes[sizeof(T)];
  put_big_endian(bytes, value);
  out.append(bytes, sizeof(T));
}

std::int64_t microseconds(Timestamp at) { return at.seconds * 1'000'000 + at.nanos / 1000 - epoch_offset_us; }

}  // namespace

void append(std::string& out, bool value) { out.push_back(value ? 1 : 0); }
void append(std::string& out, std::int64_t value) { append_big_endian(out, static_cast<std::uint64_t>(value)); }
void append(std::string& out, int value) { append_big_endian(out, static_cast<std::uint32_t>(value)); }
void append(std::string& out, double value) { append_big_endian(out, std::bit_cast<std::uint64_t>(value)); }
void append(std::string& out, std::string_view value) { out.append(value); }
void append(std::string& out, Timestamp value) { append(out, microseconds(value)); }
void append(std::string& out, Uuid value) {
  const UuidBytes bytes = uuid_bytes(value.text);
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
void append(std::string& out, RowPlace value) {
  append_big_endian(out, static_cast<std::uint32_t>(value.number >> 16));  // the page
  append_big_endian(out, static_cast<std::uint16_t>(value.number));        // the row on it
}
void append(std::string& out, Jsonb value) {
  out.push_back(1);  // the version of jsonb's binary form
  write_json(value.value, out);
}

void set_length(std::string& out, std::size_t start) {
  put_big_endian(out.data() + start, static_cast<std::uint32_t>(out.size() - start - 4));
}

namespace {

// Appends length and value at once, because growing a string takes longer than the rest.
template <class T>
void append_number(std::string& out, T value) {
  char bytes[4 + sizeof(T)];
  put_big_endian(bytes, static_cast<std::uint32_t>(sizeof(T)));
  put_big_endian(bytes + 4, value);
  out.append(bytes, sizeof bytes);
}

}  // namespace

void append_sized(std::string& out, std::int64_t value) { append_number(out, static_cast<std::uint64_t>(value)); }
void append_sized(std::string& out, int value) { append_number(out, static_cast<std::uint32_t>(value)); }
void append_sized(std::string& out, std::string_view value) {
  append(out, static_cast<int>(value.size()));
  out.append(value);
}
void append_sized(std::string& out, Timestamp value) { append_sized(out, microseconds(value)); }

void Array::add_all(const Array& others) {
  if (others.size_ == 0) return;
  if (size_ == 0) bytes_.resize(head_bytes);
  size_ += others.size_;
  has_null_ |= others.has_null_;
  bytes_.append(others.bytes_, head_bytes);
}

std::string_view Array::of_type(Oid type) const {
  if (size_ == 0) bytes_.resize(head_bytes);
  std::size_t at = 0;
  const auto put = [&](std::size_t part) {
    put_big_endian(bytes_.data() + at, static_cast<std::uint32_t>(part));
    at += sizeof(int);
  };
  put(size_ == 0 ? 0 : 1);  // dimensions
  put(has_null_ ? 1 : 0);
  put(type);
  if (size_ == 0) return {bytes_.data(), at};
  put(size_);
  put(1);  // the index of the first element
  return bytes_;
}

std::vector<const char*> Parameters::values() const {
  std::vector<const char*> values;
  values.reserve(places_.size());
  for (const Place& place : places_) {
    const char* const own = place.length == null_length ? nullptr : own_.data() + place.start;
    values.push_back(place.borrowed ? place.borrowed : own);
  }
  return values;
}

std::vector<int> Parameters::lengths() const {
  std::vector<int> lengths;
  lengths.reserve(places_.size());
  for (const Place& place : places_) {
    lengths.push_back(place.length == null_length ? 0 : static_cast<int>(place.length));
  }
  return lengths;
}

Column<std::string> names(const std::vector<std::string>& list) {
  Column<std::string> column;
  for (const std::string& name : list) column.add(name);
  return column;
}

}  // namespace cairn::postgres
