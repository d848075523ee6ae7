// Types that the checker deduces. Checking is gradual: `dyn` means that only the data can tell, and it fits everywhere.
// Types are cheap to copy; copies share their immutable content.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cairn::expr {

class Type {
 public:
  enum class Kind : std::uint8_t {
    dyn,
    null,
    boolean,
    integer,
    unsigned_integer,
    number,
    string,
    bytes,
    timestamp,
    duration,
    list,      // element
    map,       // key, value; optionally with members known by name
    type,      // of
    optional,  // of
    decimal,
    numeric,   // int or double, like `number` of JSON Schema
    opaque,    // a name and parameters
    variable,  // in signatures and inside the checker only
  };
  struct Member;

  Type() = default;  // dyn
  static Type dyn() { return Type(Kind::dyn); }
  static Type null() { return Type(Kind::null); }
  static Type boolean() { return Type(Kind::boolean); }
  static Type integer() { return Type(Kind::integer); }
  static Type unsigned_integer() { return Type(Kind::unsigned_integer); }
  static Type number() { return Type(Kind::number); }
  static Type string() { return Type(Kind::string); }
  static Type bytes() { return Type(Kind::bytes); }
  static Type timestamp() { return Type(Kind::timestamp); }
  static Type duration() { return Type(Kind::duration); }
  static Type decimal() { return Type(Kind::decimal); }
  static Type numeric() { return Type(Kind::numeric); }
  static Type list(Type element);
  static Type map(Type key, Type value);
  static Type type(Type of);
  static Type optional(Type of);
  static Type opaque(std::string name, std::vector<Type> parameters = {});
  static Type variable(std::uint32_t number);
  // An object with known members. `closed`: it has no others.
  static Type object(std::vector<Member> members, bool closed);

  // The type that a JSON Schema guarantees; dyn where it guarantees nothing useful.
  static Type from_schema(const Json& schema);
  // Parses `list(string)`, `map(K, V)` ... Capital names are type parameters. They become variables, numbered by their
  // position in `parameters`, which grows. Empty if the text is not a type.
  static std::optional<Type> parse(std::string_view text, std::vector<std::string>& parameters);
  static std::optional<Type> parse(std::string_view text);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_dyn() const { return kind_ == Kind::dyn; }
  bool is_number() const {
    return is(Kind::integer) || is(Kind::unsigned_integer) || is(Kind::number) || is(Kind::numeric);
  }
  std::uint32_t variable_number() const { return number_; }
  std::size_t parameter_count() const;
  const Type& parameter(std::size_t index) const;  // dyn if there is none
  const std::string& name() const;                 // of an opaque type
  bool has_members() const;
  bool closed() const;
  const std::vector<Member>& members() const;
  const Type* find_member(std::string_view name) const;

  std::string text() const;  // list(int), map(string, dyn), ...
  friend bool operator==(const Type& a, const Type& b);

 private:
  struct Insides;
  explicit Type(Kind kind) : kind_(kind) {}
  static Type with(Kind kind, std::vector<Type> parameters);

  Kind kind_ = Kind::dyn;
  std::uint32_t number_ = 0;
  std::shared_ptr<const Insides> insides_;  // shared by the copies of one type
};

struct Type::Member {
  std::string name;
  Type type;
  bool required = false;
};

}  // namespace cairn::expr
