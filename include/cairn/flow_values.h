// Values of definitions built in C++: JSON, expressions, conditions, durations and instants.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn::flow {

// A piece of a definition in its JSON source form, with its first error.
class Part {
 public:
  const Json& source() const { return source_; }
  const std::string& problem() const { return problem_; }

 protected:
  Part() = default;
  explicit Part(Json source) : source_(std::move(source)) {}

  void put(std::string_view key, const Part& value);
  void put(std::string_view key, Json value) { source_.set(key, std::move(value)); }
  // Sets `inner` of the object at `key`.
  void put_in(std::string_view key, std::string_view inner, const Part& value);
  void put_in(std::string_view key, std::string_view inner, Json value);
  void add(const Part& item);
  void add_in(std::string_view key, std::string_view inner, const Part& item);
  void take_problem(const Part& from);
  void set_problem(std::string problem) { problem_ = std::move(problem); }

 private:
  Json source_;
  std::string problem_;
};

// An expression of the definition language, without a leading `=`.
class Cel : public Part {
 public:
  explicit Cel(std::string_view text);
};
inline Cel cel(std::string_view text) { return Cel(text); }

// Literal JSON: schemas, and values of any size. `build` reports text that is not JSON.
class Document : public Part {
 public:
  explicit Document(Json value) : Part(std::move(value)) {}
  explicit Document(std::string_view text);
};
inline Document json(std::string_view text) { return Document(text); }

struct Member;

// Any JSON with expressions at any depth. Text is always literal; write an expression as cel("…").
class Value : public Part {
 public:
  Value() = default;  // null
  Value(std::nullptr_t) {}
  Value(bool value) : Part(Json(value)) {}
  template <std::signed_integral Number>
  Value(Number value) : Part(Json(static_cast<long long>(value))) {}
  Value(double value);
  Value(const char* text) : Value(std::string_view(text)) {}
  Value(const std::string& text) : Value(std::string_view(text)) {}
  Value(std::string_view text);
  Value(const Cel& expression) : Part(expression) {}
  Value(const Document& literal);
  Value(std::initializer_list<Member> members);  // an object

 private:
  friend Value list(std::initializer_list<Value> items);
  friend Value list(const std::vector<Value>& items);
  explicit Value(Json source) : Part(std::move(source)) {}
  void append(const Value& item) { add(item); }
};

struct Member {
  std::string_view key;  // borrowed for the call
  Value value;
};

Value list(std::initializer_list<Value> items);
Value list(const std::vector<Value>& items);
Value object(std::initializer_list<Member> members = {});

// Always an expression, without the leading `=` of YAML.
class Condition : public Part {
 public:
  Condition(bool constant) : Part(Json(constant)) {}
  Condition(const char* expression) : Part(Cel(expression)) {}
  Condition(const std::string& expression) : Part(Cel(expression)) {}
  Condition(const Cel& expression) : Part(expression) {}
};

// A duration: std::chrono, an expression, or text as in YAML ("2d", "PT1H30M").
class Length : public Part {
 public:
  template <class Rep, class Period>
  Length(std::chrono::duration<Rep, Period> length)
      : Length(std::chrono::floor<std::chrono::seconds>(length).count(),
               std::chrono::duration_cast<std::chrono::nanoseconds>(length -
                                                                    std::chrono::floor<std::chrono::seconds>(length))
                   .count()) {}
  Length(const char* text) : Part(Json(text)) {}
  Length(const Cel& expression) : Part(expression) {}

 private:
  Length(std::int64_t seconds, std::int64_t nanos);
};

// An instant: RFC 3339 text or an expression.
class Instant : public Part {
 public:
  Instant(const char* rfc3339) : Part(Json(rfc3339)) {}
  Instant(const std::string& rfc3339) : Part(Json(rfc3339)) {}
  Instant(const Cel& expression) : Part(expression) {}
};

// The business reference of an instance: `key` and `parts`.
class Reference : public Part {
 public:
  Reference() : Part(Json::object()) {}
  Reference& key(const Value& value);
  Reference& parts(const Value& object);
};

}  // namespace cairn::flow
