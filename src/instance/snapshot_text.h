// Writes the members of one object in the order of the keys. The bytes equal those of a written Json object, but no
// object is built.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/time.h"
#include "instance/piece_writer.h"

namespace cairn {

// The longest key of a snapshot. Its keys need no escapes.
inline constexpr std::size_t key_length_max = 28;

// The text, and the writer of values if large ones are kept apart.
struct SnapshotText {
  std::string bytes;
  PieceWriter* apart = nullptr;
};

class SnapshotObject {
 public:
  explicit SnapshotObject(SnapshotText& out) : out_(out) { out_.bytes.push_back('{'); }
  ~SnapshotObject() { out_.bytes.push_back('}'); }
  SnapshotObject(const SnapshotObject&) = delete;
  SnapshotObject& operator=(const SnapshotObject&) = delete;

  std::string& key(std::string_view name) { return open(name).bytes; }
  SnapshotText& open(std::string_view name) {
    // Appended in one call, because appending byte by byte takes longer than the rest.
    char quoted[key_length_max + 4];
    char* to = quoted;
    if (!first_) *to++ = ',';
    first_ = false;
    *to++ = '"';
    to += name.copy(to, key_length_max);
    *to++ = '"';
    *to++ = ':';
    out_.bytes.append(quoted, static_cast<std::size_t>(to - quoted));
    return out_;
  }
  void text(std::string_view name, std::string_view value) { write_json_string(value, key(name)); }
  void some_text(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  void number(std::string_view name, std::uint64_t value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    key(name).append(digits, static_cast<std::size_t>(end - digits));
  }
  void some_number(std::string_view name, std::uint64_t value) {
    if (value != 0) number(name, value);
  }
  void json(std::string_view name, const Json& value) {
    SnapshotText& out = open(name);
    if (out.apart != nullptr) {
      out.apart->write(value, out.bytes);
    } else {
      write_json(value, out.bytes);
    }
  }
  void some_json(std::string_view name, const Json& value) {
    if (!value.is_null()) json(name, value);
  }
  void time(std::string_view name, Timestamp value) {
    std::string& out = key(name);
    out.push_back('"');
    write_timestamp(value, out);
    out.push_back('"');
  }
  void some_time(std::string_view name, const std::optional<Timestamp>& value) {
    if (value) time(name, *value);
  }
  template <class Items, class Write>
  void some_list(std::string_view name, const Items& items, Write write) {
    if (items.empty()) return;
    SnapshotText& out = open(name);
    out.bytes.push_back('[');
    bool first = true;
    for (const auto& item : items) {
      if (!first) out.bytes.push_back(',');
      first = false;
      write(item, out);
    }
    out.bytes.push_back(']');
  }

 private:
  SnapshotText& out_;
  bool first_ = true;
};

}  // namespace cairn
