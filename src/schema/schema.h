// src/schema implements JSON Schema, draft 2020-12: it compiles a schema document once and validates data against it.
// It uses src/base and RE2, and it knows nothing of workflows. References stay inside the document (by pointer, anchor
// or embedded $id) or lead to the draft's metaschema; nothing is ever loaded. Patterns run in linear time. Unknown
// keywords are ignored. Read Schema::compile and Schema::check in this file first, then Evaluation in evaluation.h.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn::schema {

// One violation in the data. `pointer` (RFC 6901) leads to the value that `message` describes; "" is the whole
// document. `keyword` is the schema keyword that rejected the value.
struct Violation {
  std::string pointer;
  std::string message;
  std::string keyword;
  bool operator==(const Violation&) const = default;
};

// All violations on one line, each with its place: "/amount: must be a number; /: …".
std::string listed(const std::vector<Violation>& violations);

// One fault in a schema; `pointer` leads into the schema document.
struct SchemaFault {
  std::string pointer;
  std::string message;
  bool operator==(const SchemaFault&) const = default;
};

struct Options {
  bool assert_formats = true;  // false: `format` is only an annotation
};

struct Compiled;

// Immutable, cheap to copy, safe to use from several threads.
class Schema {
 public:
  // The compiled schema, or all faults of the document (at most 20).
  static Result<Schema, std::vector<SchemaFault>> compile(const Json& document, const Options& options = {});

  // The violations in `data`, at most `violations_max`; empty if it is valid.
  std::vector<Violation> check(const Json& data, std::size_t violations_max = 20) const;
  // The same answer as check(data).empty(), without messages and, for most schemas, without allocation.
  bool accepts(const Json& data) const;

  const Json& document() const;

 private:
  explicit Schema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  // Shared by all copies of this schema.
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace cairn::schema
