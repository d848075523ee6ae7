// Types as the checker deduces them. Checking is gradual: `dyn` stands for what only the data can
// tell and fits everywhere. Types are cheap to copy (insides are shared and never change).
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
    map,       // key, value; perhaps with members that are known by name
    type,      // of
    optional,  // of
    decimal,
    numeric,   // int or double, as JSON Schema's `number`
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
  // An object whose members are known. `closed`: no others exist.
  static Type object(std::vector<Member> members, bool closed);

  // What a JSON Schema promises of its values; dyn where it promises nothing that helps.
  static Type from_schema(const Json& schema);
  // `list(string)`, `map(K, V)` ...; capital names are type parameters and become variables
  // numbered by their order in `parameters`, which grows. Nothing when the text is no type.
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
  const Type& parameter(std::size_t index) const;  // dyn when there is none
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
