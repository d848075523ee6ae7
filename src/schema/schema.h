// JSON Schema, draft 2020-12: a schema document compiled once, then held against data.
//
// References stay inside the document (by pointer, anchor or embedded $id) or lead to the draft's own
// metaschema; nothing is ever loaded. Patterns run in linear time. Unknown keywords are ignored.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace cairn::schema {

// One thing wrong with the data. `pointer` (RFC 6901) leads to the value that `message` is about,
// "" being the whole document; `keyword` is the schema keyword that refused it.
struct Violation {
  std::string pointer;
  std::string message;
  std::string keyword;
  bool operator==(const Violation&) const = default;
};

// One thing wrong with a schema; `pointer` leads into the schema document.
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
  // The compiled schema or everything found wrong with the document, at most 20 faults.
  static Result<Schema, std::vector<SchemaFault>> compile(const Json& document, const Options& options = {});

  // What is wrong with `data`, at most `violations_max` entries; empty when it is valid.
  std::vector<Violation> check(const Json& data, std::size_t violations_max = 20) const;
  // The same answer as check(data).empty(), without the words and without allocating for most schemas.
  bool accepts(const Json& data) const;

  const Json& document() const;

 private:
  explicit Schema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  // Shared by all copies of this schema; the last one frees it.
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace cairn::schema
