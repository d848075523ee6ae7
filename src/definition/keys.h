// The keys of the definition language as tables. Reading, "did you mean" suggestions and schema/definition.json all use
// them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/json.h"

namespace cairn {

// The form of a value in the source.
enum class Shape {
  text,           // plain text, never an expression
  label,          // the same, not empty and not long
  labels,         // a list of them
  workflow_name,  // loan.approval
  version,        // 1.0.0
  step_id,
  identifier,  // a name that expressions can use
  signal_name,
  branch_name,
  type_name,  // of a worker
  path,       // into state: score.value
  boolean,
  integer,
  number,
  choice,       // one of `choices`
  value,        // any JSON with expressions at any depth
  text_value,   // text or an expression that gives it
  texts_value,  // a list of text, parts of it or all of it expressions
  list_value,
  object_value,
  integer_value,
  condition,         // an expression, or true or false
  conditions,        // a list of them
  duration,          // 10s, PT10S or an expression
  duration_literal,  // 10s, PT10S
  durations,         // a list of durations
  time,              // RFC 3339 or an expression
  due,               // a duration or a time
  cron,
  schema,         // a JSON Schema
  steps,          // a list of steps
  some_steps,     // the same, at least one
  assignments,    // set: an object {path: value} or a list [{path, value}]
  branches,       // an object {name: steps} or a list [{name, steps}]
  statuses,       // a list of HTTP status codes
  join,           // all, any or a number
  wait,           // a duration or an object
  retry,          // an object or `none`
  object,         // an object with the keys of `inner`
  objects,        // a list of such objects, at least one
  maybe_objects,  // the same, may be empty
  signals,        // {NAME: object with the keys of `inner`}
  derived,        // written by cairn into the canonical form
};

struct KeyTable;

// The range of an integer or a number, both ends included.
struct Range {
  double min;
  double max;
};

struct Key {
  std::string_view name;
  Shape shape;
  std::string_view about;  // a sentence for editors
  bool required = false;
  std::optional<Json> otherwise = std::nullopt;  // written into the canonical form if the key is missing
  const KeyTable* inner = nullptr;
  std::span<const std::string_view> choices = {};
  std::optional<Range> range = std::nullopt;
};

// If `key` is present, `needed` must be present too.
struct Need {
  std::string_view key;
  std::string_view needed;
};

struct KeyTable {
  std::string_view noun;  // names the table in schema/definition.json
  std::span<const Key> keys;
  std::span<const std::string_view> one_of = {};  // exactly one of these must be present
  std::span<const Need> needs = {};
  std::span<const std::string_view> elsewhere = {};  // keys that the caller reads and reports itself

  const Key* find(std::string_view name) const;
};

}  // namespace cairn
