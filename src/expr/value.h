// Values of the expression language. A value has 16 bytes. Scalars are stored inside. Text and containers are either
// owned (reference-counted, safe from several threads) or borrowed from JSON or other values that the caller keeps
// alive. Copies of a borrowing value borrow too; `self_contained` makes a value that borrows nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"

namespace cairn::expr {

class Value;

// Values of kinds that a library defines: decimals, IP addresses, networks.
class Opaque {
 public:
  virtual ~Opaque() = default;
  virtual std::string_view type_name() const = 0;  // static text
  // Equality with any other value. It must agree with `compare`.
  virtual bool equals(const Value& other) const = 0;
  // -1, 0, 1; empty if the two have no order.
  virtual std::optional<int> compare(const Value& other) const = 0;
  virtual std::string text() const = 0;   // as string() gives it and JSON stores it
  virtual std::size_t bytes() const = 0;  // for the budget

 private:
  friend class Value;
  mutable std::atomic<std::uint32_t> owners_{1};
};

class Value {
 public:
  enum class Kind : std::uint8_t {
    null,
    boolean,
    integer,
    unsigned_integer,
    number,
    string,
    bytes,
    list,
    map,
    timestamp,
    duration,
    type,
    optional,
    decimal,  // an Opaque
    opaque,   // any other Opaque
    error,    // inside the evaluator only, never a result
  };

  struct Entry;
  using List = std::vector<Value>;
  using Entries = std::vector<Entry>;

  Value() noexcept : kind_(Kind::null) { held_.integer = 0; }
  Value(const Value& other) noexcept { copy_from(other); }
  Value(Value&& other) noexcept { move_from(other); }
  Value& operator=(const Value& other) noexcept {
    if (this != &other) {
      Value kept(other);
      release();
      move_from(kept);
    }
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    if (this != &other) {
      release();
      move_from(other);
    }
    return *this;
  }
  ~Value() { release(); }

  static Value boolean(bool value) noexcept;
  static Value integer(std::int64_t value) noexcept;
  static Value unsigned_integer(std::uint64_t value) noexcept;
  static Value number(double value) noexcept;
  static Value timestamp(Timestamp value) noexcept;
  static Value duration(Duration value) noexcept;
  // `name` has static lifetime: a name of `type_name` or of an Opaque.
  static Value type(std::string_view name) noexcept;
  static Value text(std::string_view value);
  static Value bytes(std::string_view value);
  static Value list(List items);
  // Entries in any order. Keys must be distinct; MapBuilder checks that.
  static Value map(Entries entries);
  static Value some(Value value);
  static Value none() noexcept;
  static Value opaque(Kind kind, std::unique_ptr<const Opaque> value);
  // Borrows: `value` must stay unchanged at its address while the result, or anything read from it, is in use.
  static Value borrow(const Json& value) noexcept;
  static Value own(Json value);
  // The same value without ownership.
  Value borrowed() const noexcept;

  Kind kind() const noexcept { return kind_; }
  bool is(Kind kind) const noexcept { return kind_ == kind; }
  bool is_number() const noexcept {
    return kind_ == Kind::integer || kind_ == Kind::unsigned_integer || kind_ == Kind::number;
  }

  // The kind must match; check it first.
  bool as_bool() const noexcept { return held_.boolean; }
  std::int64_t as_integer() const noexcept { return held_.integer; }
  std::uint64_t as_unsigned() const noexcept { return held_.unsigned_integer; }
  double as_number() const noexcept { return held_.number; }
  double to_double() const noexcept;  // of any of the three number kinds
  Timestamp as_timestamp() const noexcept { return {held_.integer, static_cast<std::int32_t>(extra_)}; }
  Duration as_duration() const noexcept { return {held_.integer, static_cast<std::int32_t>(extra_)}; }
  std::string_view as_text() const noexcept { return held_.json->as_string(); }  // string and bytes
  std::string_view as_type() const noexcept { return {held_.characters, extra_}; }
  const Opaque& as_opaque() const noexcept { return *held_.opaque; }

  // Lists and maps. Items of an owning value own their content, so they outlive it.
  std::size_t size() const noexcept;
  Value item(std::size_t index) const;
  Value key(std::size_t index) const;  // maps are sorted by key
  Value value(std::size_t index) const;
  std::optional<Value> find(const Value& key) const;
  std::optional<Value> find(std::string_view key) const;
  bool contains(const Value& key) const;
  bool contains(std::string_view key) const;

  // Optionals.
  bool has_value() const noexcept { return held_.box != nullptr; }
  Value optional_value() const;

  // The JSON that this value holds, for containers and text only; otherwise nullptr.
  const Json* json() const noexcept { return form_ == Form::json ? held_.json : nullptr; }

  bool borrows() const noexcept;  // at any depth
  Value self_contained() const;

  // The items for appending, for loops that build a list. Only for a value made by `list` that was never copied.
  List& building_items() noexcept;
  Entries& building_entries() noexcept;

  struct ErrorHeld;
  static Value error(ErrorHeld* held) noexcept;  // takes ownership
  ErrorHeld& as_error() const noexcept { return *held_.failure; }

 private:
  enum class Form : std::uint8_t { scalar, json, list, map, box, opaque, error };
  struct JsonBox;
  struct ListBox;
  struct MapBox;
  struct ValueBox;
  union Held {
    bool boolean;
    std::int64_t integer;
    std::uint64_t unsigned_integer;
    double number;
    const Json* json;
    const char* characters;
    ListBox* list;
    MapBox* map;
    ValueBox* box;
    const Opaque* opaque;
    ErrorHeld* failure;
  };

  void copy_from(const Value& other) noexcept {
    held_ = other.held_;
    extra_ = other.extra_;
    kind_ = other.kind_;
    form_ = other.form_;
    owned_ = other.owned_;
    if (owned_) retain();
  }
  void move_from(Value& other) noexcept {
    held_ = other.held_;
    extra_ = other.extra_;
    kind_ = other.kind_;
    form_ = other.form_;
    owned_ = other.owned_;
    other.owned_ = false;
    other.kind_ = Kind::null;
    other.form_ = Form::scalar;
  }
  void release() noexcept {
    if (owned_) drop();
  }
  void retain() const noexcept;
  void drop() noexcept;
  Value inside(const Value& item) const { return owned_ ? item : item.borrowed(); }
  Value inside(const Json& item) const { return owned_ ? own(item) : borrow(item); }

  Held held_;
  std::uint32_t extra_ = 0;
  Kind kind_;
  Form form_ = Form::scalar;
  bool owned_ = false;
};

struct Value::Entry {
  Value key;
  Value value;
};

// The name of a kind as type() shows it: int, google.protobuf.Timestamp, ...
std::string_view type_name(const Value& value) noexcept;
// The name of a kind in messages: whole number, text, ...
std::string_view describe(Value::Kind kind) noexcept;
// `a string`, `an int`.
std::string with_article(std::string_view noun);

// CEL equality: numbers compare by value across kinds, containers by content; different kinds are never equal.
bool equal(const Value& a, const Value& b);
// The cost of a comparison, and whether it has an answer.
struct Equality {
  // One for each compared pair and for each 16 bytes of text. Past a million the comparison stops and reports more work
  // than any budget allows.
  std::uint64_t work = 0;
  // A decimal was compared with a double, at any depth. There is no answer, because a double is rarely the number that
  // the decimal means.
  bool mixed = false;
};
bool equal(const Value& a, const Value& b, Equality& equality);
// -1, 0, 1; empty if the two have no order (different kinds, NaN).
std::optional<int> compare(const Value& a, const Value& b);
// The order of map keys: booleans, numbers by value, text by bytes.
int compare_keys(const Value& a, const Value& b) noexcept;
bool is_key(const Value& value) noexcept;

inline Value Value::boolean(bool value) noexcept {
  Value result;
  result.held_.integer = 0;
  result.held_.boolean = value;
  result.kind_ = Kind::boolean;
  return result;
}
inline Value Value::integer(std::int64_t value) noexcept {
  Value result;
  result.held_.integer = value;
  result.kind_ = Kind::integer;
  return result;
}
inline Value Value::unsigned_integer(std::uint64_t value) noexcept {
  Value result;
  result.held_.unsigned_integer = value;
  result.kind_ = Kind::unsigned_integer;
  return result;
}
inline Value Value::number(double value) noexcept {
  Value result;
  result.held_.number = value;
  result.kind_ = Kind::number;
  return result;
}
inline Value Value::timestamp(Timestamp value) noexcept {
  Value result;
  result.held_.integer = value.seconds;
  result.extra_ = static_cast<std::uint32_t>(value.nanos);
  result.kind_ = Kind::timestamp;
  return result;
}
inline Value Value::duration(Duration value) noexcept {
  Value result;
  result.held_.integer = value.seconds;
  result.extra_ = static_cast<std::uint32_t>(value.nanos);
  result.kind_ = Kind::duration;
  return result;
}
inline Value Value::type(std::string_view name) noexcept {
  Value result;
  result.held_.characters = name.data();
  result.extra_ = static_cast<std::uint32_t>(name.size());
  result.kind_ = Kind::type;
  return result;
}
inline Value Value::borrowed() const noexcept {
  Value result;
  result.held_ = held_;
  result.extra_ = extra_;
  result.kind_ = kind_;
  result.form_ = form_;
  return result;
}
inline double Value::to_double() const noexcept {
  if (kind_ == Kind::integer) return static_cast<double>(held_.integer);
  if (kind_ == Kind::unsigned_integer) return static_cast<double>(held_.unsigned_integer);
  return held_.number;
}

}  // namespace cairn::expr
