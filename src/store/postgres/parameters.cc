#include "store/postgres/parameters.h"

#include <bit>

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

// Without a branch: letters have the bit of 64, and are nine more than their lowest four bits say.
int digit(char c) { return (c & 0xF) + 9 * ((c >> 6) & 1); }

}  // namespace

void append(std::string& out, bool value) { out.push_back(value ? 1 : 0); }
void append(std::string& out, std::int64_t value) { append_big_endian(out, static_cast<std::uint64_t>(value)); }
void append(std::string& out, int value) { append_big_endian(out, static_cast<std::uint32_t>(value)); }
void append(std::string& out, double value) { append_big_endian(out, std::bit_cast<std::uint64_t>(value)); }
void append(std::string& out, std::string_view value) { out.append(value); }
void append(std::string& out, Timestamp value) {
  append(out, value.seconds * 1'000'000 + value.nanos / 1000 - epoch_offset_us);
}
void append(std::string& out, Uuid value) {
  char bytes[16];
  std::size_t at = 0;
  for (std::size_t i = 0; i < sizeof(bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++at;  // a dash
    bytes[i] = static_cast<char>(digit(value.text[at]) * 16 + digit(value.text[at + 1]));
    at += 2;
  }
  out.append(bytes, sizeof(bytes));
}
void append(std::string& out, RowPlace value) {
  append_big_endian(out, static_cast<std::uint32_t>(value.number >> 16));  // the page
  append_big_endian(out, static_cast<std::uint16_t>(value.number));        // and the row on it
}
void append(std::string& out, Jsonb value) {
  out.push_back(1);  // the version of jsonb's binary form
  write_json(value.value, out);
}

std::string array_of(Oid type, std::size_t size, bool has_null, const std::string& values) {
  std::string out;
  out.reserve(values.size() + 20);
  append(out, size == 0 ? 0 : 1);
  append(out, has_null ? 1 : 0);
  append(out, static_cast<int>(type));
  if (size > 0) {
    append(out, static_cast<int>(size));
    append(out, 1);
  }
  return out += values;
}

void set_length(std::string& out, std::size_t start) {
  put_big_endian(out.data() + start, static_cast<std::uint32_t>(out.size() - start - 4));
}

Column<std::string> names(const std::vector<std::string>& list) {
  Column<std::string> column;
  for (const std::string& name : list) column.add(name);
  return column;
}

}  // namespace cairn::postgres
