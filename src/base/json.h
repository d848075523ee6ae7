// JSON values. Copies share their content by reference counting, which is safe from several threads. A change through
// one copy is never visible through another. Objects keep their members sorted by key, so output is canonical and
// iteration order is the same everywhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace cairn {

// What is known of a large value, so that it need not be computed again: readers derive from it. It describes the
// value as it is, because a changed value has no note.
struct JsonNote {
  JsonNote(std::size_t written_length, int nesting) : written(written_length), depth(nesting) {}
  virtual ~JsonNote() = default;
  std::size_t written;  // the length of the value as JSON text
  int depth;            // levels of arrays and objects; 0: a scalar
};

class Json {
 public:
  enum class Kind : std::uint8_t { null, boolean, integer, number, string, array, object };

  struct Member;
  using Array = std::vector<Json>;
  using Members = std::vector<Member>;  // sorted by key bytes, keys unique

  Json() noexcept : kind_(Kind::null) { held_.integer = 0; }
  Json(std::nullptr_t) noexcept : Json() {}
  Json(bool value) noexcept : kind_(Kind::boolean) { held_.boolean = value; }
  Json(int value) noexcept : kind_(Kind::integer) { held_.integer = value; }
  Json(unsigned value) noexcept : kind_(Kind::integer) { held_.integer = value; }
  Json(long value) noexcept : kind_(Kind::integer) { held_.integer = value; }
  Json(long long value) noexcept : kind_(Kind::integer) { held_.integer = value; }
  // Finite numbers only. JSON has no NaN and no infinity, so input with them is rejected.
  Json(double value) noexcept : kind_(Kind::number) { held_.number = value; }
  Json(Text value) noexcept : kind_(Kind::string) { ::new (&held_.text) Text(std::move(value)); }
  Json(std::string_view value) : Json(Text(value)) {}
  Json(const std::string& value) : Json(Text(value)) {}
  Json(const char* value) : Json(Text(value)) {}
  Json(Array items);
  // Members in any order. If a key repeats, the last member wins.
  static Json object(Members members);
  static Json object();  // not a default argument: clang needs Member complete for one
  static Json object(std::initializer_list<std::pair<std::string_view, Json>> members);
  static Json array(Array items = {}) { return Json(std::move(items)); }

  Json(const Json& other) noexcept;
  // Here and not in json.cc, because the hot path moves values more often than it does anything else.
  Json(Json&& other) noexcept : kind_(other.kind_) {
    std::memcpy(static_cast<void*>(&held_), static_cast<const void*>(&other.held_), sizeof held_);
    other.kind_ = Kind::null;
  }
  Json& operator=(Json other) noexcept {
    swap(other);
    return *this;
  }
  ~Json() {
    if (kind_ >= Kind::string) release();
  }
  void swap(Json& other) noexcept {
    alignas(Held) unsigned char kept[sizeof held_];
    std::memcpy(kept, static_cast<const void*>(&held_), sizeof held_);
    std::memcpy(static_cast<void*>(&held_), static_cast<const void*>(&other.held_), sizeof held_);
    std::memcpy(static_cast<void*>(&other.held_), kept, sizeof held_);
    std::swap(kind_, other.kind_);
  }

  Kind kind() const noexcept { return kind_; }
  bool is_null() const noexcept { return kind_ == Kind::null; }
  bool is_bool() const noexcept { return kind_ == Kind::boolean; }
  bool is_integer() const noexcept { return kind_ == Kind::integer; }
  bool is_number() const noexcept { return kind_ == Kind::integer || kind_ == Kind::number; }
  bool is_string() const noexcept { return kind_ == Kind::string; }
  bool is_array() const noexcept { return kind_ == Kind::array; }
  bool is_object() const noexcept { return kind_ == Kind::object; }

  // The kind must match; check it first.
  bool as_bool() const {
    CAIRN_ASSERT(is_bool());
    return held_.boolean;
  }
  std::int64_t as_integer() const {
    CAIRN_ASSERT(is_integer());
    return held_.integer;
  }
  double as_double() const {  // of an integer or a number
    CAIRN_ASSERT(is_number());
    return kind_ == Kind::integer ? static_cast<double>(held_.integer) : held_.number;
  }
  std::string_view as_string() const { return as_text().view(); }
  const Text& as_text() const {
    CAIRN_ASSERT(is_string());
    return held_.text;
  }
  const Array& items() const;
  const Members& members() const;

  // The number of items of an array or object; 0 for every other kind.
  std::size_t size() const noexcept;

  // The member, or nullptr if this is not an object or has no such key.
  const Json* find(std::string_view key) const noexcept;
  // The member, or null if it is missing.
  const Json& operator[](std::string_view key) const noexcept;
  // The text of a member, or `otherwise` if it is missing or not text.
  std::string_view text_or(std::string_view key, std::string_view otherwise) const noexcept;

  // These functions change the value. A null first becomes an object (or array); any other kind is a bug.
  void set(std::string_view key, Json value);
  bool erase(std::string_view key);
  void push_back(Json value);
  // The items of an array for writing, no longer shared with any copy.
  Array& edit_items();
  // The member's value for writing; created as null if missing.
  Json& edit(std::string_view key);

  // The note beside an array, an object with members or a long text (JsonNote); nullptr: there is none. It lives as
  // long as the value or a copy of it.
  const JsonNote* note() const noexcept;
  // Keeps a note beside the value and its copies until one of them is changed, which drops it there. The first note
  // stays. False if this value cannot have one.
  bool keep_note(std::unique_ptr<JsonNote> note) const;

  // Equal means same kind and same value; 1 and 1.0 differ. Use `same_value` to compare as JSON Schema does.
  friend bool operator==(const Json& a, const Json& b) noexcept;

 private:
  class NoteSlot;
  struct ArrayBlock;
  struct ObjectBlock;
  union Held {
    Held() {}
    ~Held() {}
    bool boolean;
    std::int64_t integer;
    double number;
    Text text;
    ArrayBlock* array;
    ObjectBlock* object;  // nullptr: no members
  };

  void release() noexcept;
  ArrayBlock& own_array();
  ObjectBlock& own_object();

  Held held_;
  Kind kind_;
};

struct Json::Member {
  Text key;
  Json value;
  Member(std::string_view name, Json held) : key(name), value(std::move(held)) {}
  Member(Text name, Json held) : key(std::move(name)), value(std::move(held)) {}
  friend bool operator==(const Member& a, const Member& b) noexcept { return a.key == b.key && a.value == b.value; }
};

const char* to_string(Json::Kind kind);

// Compares numbers by value: 1 and 1.0 are equal, at any depth.
bool same_value(const Json& a, const Json& b) noexcept;
// Compares an integer with a double exactly, without rounding either.
int compare_exactly(std::int64_t a, double b) noexcept;

struct JsonLimits {
  std::size_t bytes_max = 4u << 20;
  int depth_max = 128;
  bool nul_allowed = false;  // \u0000 in text; only for values that never reach a store
};

// Parses UTF-8 JSON text. Errors name line and column. Rejected: invalid JSON, duplicate keys, U+0000, lone surrogates,
// invalid UTF-8, numbers beyond a double, and values past the limits. A number without fraction and exponent that fits
// int64 is an integer; every other number is a double.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// Writes compact JSON with sorted keys and the shortest number that reads back the same. Equal values give equal bytes.
std::string write_json(const Json& value);
void write_json(const Json& value, std::string& out);
// Writes JSON for people: two spaces per level, short arrays and objects of scalars on one line.
std::string write_json_pretty(const Json& value);
void write_json_string(std::string_view text, std::string& out);
void write_json_number(double value, std::string& out);

// The value at an RFC 6901 pointer, or nullptr.
const Json* find_pointer(const Json& root, std::string_view pointer) noexcept;
// One reference token escaped for a pointer.
std::string escape_pointer(std::string_view token);

}  // namespace cairn
